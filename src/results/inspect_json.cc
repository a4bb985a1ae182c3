// SPDX-License-Identifier: Apache-2.0
#include <span>

#include "core/json.h"
#include "segcal/inspect.h"

namespace segcal {
std::string ToJson(const Dataset& dataset, const DatasetSummary& summary) {
  Json json = {{"name", dataset.name},
               {"classes", dataset.classes},
               {"input", Name(*dataset.input)},
               {"voxels", summary.voxels},
               {"labelled", summary.labelled},
               {"label_counts", summary.label_counts},
               {"decision_counts", summary.decision_counts},
               {"repeated", summary.repeated},
               {"repeated_example", summary.repeated_example},
               {"renormalised", summary.renormalised},
               {"free_energy", Json::array()},
               {"methods", Json::array()},
               {"skipped", summary.skipped},
               {"cases", Json::array()}};
  for (const FreeEnergySpread& spread : summary.free_energy) {
    json["free_energy"].push_back({{"members", spread.members},
                                   {"cases", spread.cases},
                                   {"mean", JsonNumber(spread.mean)},
                                   {"quartiles", JsonNumbers(spread.quartiles)}});
  }
  for (const MethodSummary& method : Methods(dataset.num_classes(), *dataset.input)) {
    json["methods"].push_back({{"name", method.name},
                               {"translation_invariant", method.translation_invariant},
                               {"preserves", Name(method.preserves)},
                               {"optimised", method.optimised},
                               {"identifiable", method.identifiable}});
  }
  for (const CaseSummary& c : summary.cases) {
    json["cases"].push_back({{"id", c.id},
                             {"split", c.split},
                             {"shape", c.shape},
                             {"dtype", c.dtype},
                             {"labelled", c.labelled},
                             {"accuracy", JsonNumber(c.accuracy)},
                             {"free_energy_mean", JsonNumber(c.free_energy_mean)},
                             {"free_energy_std", JsonNumber(c.free_energy_std)},
                             {"free_energy_std_by_size", JsonNumbers(c.free_energy_std_by_size)}});
  }
  return DumpJson(json);
}

}  // namespace segcal
