// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/compare.h"

namespace segcal::python {
namespace {

void BindOptions(nb::module_& m) {
  nb::class_<RecommendOptions>(m, "RecommendOptions")
      .def(nb::init<>())
      .def_rw("score", &RecommendOptions::score)
      .def_prop_rw(
          "preserves",
          [](const RecommendOptions& self) { return Name(self.preserves); },
          [](RecommendOptions& self, const std::string& name) {
            self.preserves = ParsePreserves(name);
          })
      .def_rw("translation_invariant", &RecommendOptions::translation_invariant);
  nb::class_<CompareOptions>(m, "CompareOptions")
      .def(nb::init<>())
      .def_rw("run", &CompareOptions::run)
      .def_rw("pipelines", &CompareOptions::pipelines)
      .def_rw("repeats", &CompareOptions::repeats)
      .def_rw("split", &CompareOptions::split)
      .def_rw("seed", &CompareOptions::seed)
      .def_rw("search", &CompareOptions::search)
      .def_prop_rw(
          "select",
          [](const CompareOptions& self) { return Name(self.select); },
          [](CompareOptions& self, const std::string& name) { self.select = ParseSelection(name); })
      .def_rw("families", &CompareOptions::families)
      .def_rw("metrics", &CompareOptions::metrics)
      .def_prop_rw(
          "pairs",
          [](const CompareOptions& self) { return NamesOf(self.pairs); },
          [](CompareOptions& self, const Pairs& pairs) { self.pairs = PairsOf(pairs); })
      .def_rw("replicates", &CompareOptions::replicates)
      .def_rw("level", &CompareOptions::level)
      .def_rw("paper_objective", &CompareOptions::paper_objective)
      .def_rw("calibration_cases", &CompareOptions::calibration_cases)
      .def_rw("ece_bins", &CompareOptions::ece_bins)
      .def_rw("ace_bins", &CompareOptions::ace_bins)
      .def_rw("members", &CompareOptions::members)
      .def_rw("recommend", &CompareOptions::recommend)
      .def_rw("folder", &CompareOptions::folder)
      .def_rw("resume", &CompareOptions::resume)
      .def(
          "add_shift",
          [](CompareOptions& self, const std::string& name, const Dataset& dataset) {
            self.shifts.push_back({name, dataset});
          },
          nb::arg("name"),
          nb::arg("dataset"));
}

}  // namespace

void BindCompare(nb::module_& m) {
  BindOptions(m);
  m.def(
      "compare",
      [](const Dataset& dataset, const CompareOptions& options) {
        return WithoutGil([&] { return Compare(dataset, options); });
      },
      nb::arg("dataset"),
      nb::arg("options"));
  m.def(
      "fit_auto",
      [](const Dataset& dataset, const FitOptions& options, const RecommendOptions& recommend) {
        AutoResult result = WithoutGil([&] { return FitAuto(dataset, options, recommend); });
        std::vector<std::string> notes = std::move(result.recommendation.reasons);
        for (const std::string& warning : result.recommendation.warnings) notes.push_back(warning);
        return std::pair(std::move(result.model), std::move(notes));
      },
      nb::arg("dataset"),
      nb::arg("options"),
      nb::arg("recommend"));
}

}  // namespace segcal::python
