// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"
#include "segcal/simulate.h"

namespace segcal {

std::string ToJson(const SimulateSummary& summary) {
  return DumpJson({{"voxels", summary.num_voxels},
                   {"labelled", summary.num_labelled},
                   {"true_nll", JsonNumber(summary.true_nll)},
                   {"true_entropy", JsonNumber(summary.true_entropy)},
                   {"stored_nll", JsonNumber(summary.stored_nll)},
                   {"stored_confidence", JsonNumber(summary.stored_confidence)},
                   {"stored_accuracy", JsonNumber(summary.stored_accuracy)}});
}

}  // namespace segcal
