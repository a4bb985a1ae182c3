// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/evaluate.h"

namespace segcal::python {
namespace {

void BindStatistics(nb::module_& m) {
  nb::class_<StatisticsOptions>(m, "StatisticsOptions")
      .def(nb::init<>())
      .def_rw("metrics", &StatisticsOptions::metrics)
      .def_rw("reference", &StatisticsOptions::reference)
      .def_prop_rw(
          "pairs",
          [](const StatisticsOptions& self) { return NamesOf(self.pairs); },
          [](StatisticsOptions& self, const Pairs& pairs) { self.pairs = PairsOf(pairs); })
      .def_prop_rw(
          "test",
          [](const StatisticsOptions& self) { return Name(self.test); },
          [](StatisticsOptions& self, const std::string& name) { self.test = ParseRankTest(name); })
      .def_rw("replicates", &StatisticsOptions::replicates)
      .def_rw("level", &StatisticsOptions::level)
      .def_rw("seed", &StatisticsOptions::seed)
      .def_rw("threads", &StatisticsOptions::threads);
  m.def(
      "compute_statistics",
      [](const std::vector<EvaluateResult>& repeats,
         const StatisticsOptions& options,
         nb::object listener) {
        const ProgressCallback progress = ListenTo(std::move(listener));
        return WithoutGil([&] { return ComputeStatistics(repeats, options, progress); });
      },
      nb::arg("repeats"),
      nb::arg("options"),
      nb::arg("listener").none());
}

}  // namespace

std::vector<PipelinePair> PairsOf(const Pairs& names) {
  std::vector<PipelinePair> pairs;
  for (const auto& [first, second] : names) pairs.push_back({first, second});
  return pairs;
}

Pairs NamesOf(const std::vector<PipelinePair>& pairs) {
  Pairs names;
  for (const PipelinePair& pair : pairs) names.emplace_back(pair.first, pair.second);
  return names;
}

void BindEvaluate(nb::module_& m) {
  nb::class_<Statistics>(m, "Statistics").def("to_json", [](const Statistics& self) {
    return ToJson(self);
  });
  nb::class_<EvaluateOptions>(m, "EvaluateOptions")
      .def(nb::init<>())
      .def_rw("run", &EvaluateOptions::run)
      .def_rw("split", &EvaluateOptions::split)
      .def_rw("metrics", &EvaluateOptions::metrics)
      .def_rw("families", &EvaluateOptions::families)
      .def_rw("keep_cells", &EvaluateOptions::keep_cells);
  nb::class_<EvaluateResult>(m, "EvaluateResult")
      .def("to_json", [](const EvaluateResult& self) { return ToJson(self); })
      .def_static("from_json", &EvaluateResultFromJson, nb::arg("text"), nb::arg("where"))
      .def("to_csv", [](const EvaluateResult& self) { return ToCsv(self); })
      .def("cells_csv", &CellsCsv)
      .def_ro("skipped", &EvaluateResult::skipped)
      .def_ro("warnings", &EvaluateResult::warnings)
      .def_rw("statistics", &EvaluateResult::statistics);
  m.def("baseline", &Baseline, nb::arg("dataset"), nb::arg("pipeline"));
  m.def(
      "evaluate",
      [](const Dataset& dataset, const std::vector<Model>& models, const EvaluateOptions& options) {
        return WithoutGil([&] { return Evaluate(dataset, models, options); });
      },
      nb::arg("dataset"),
      nb::arg("models"),
      nb::arg("options"));
  BindStatistics(m);
}

}  // namespace segcal::python
