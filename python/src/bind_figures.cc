// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/figures.h"
#include "segcal/tables.h"

namespace segcal::python {
namespace {

using Names = std::vector<std::string>;

void BindResultFigures(nb::module_& m) {
  m.def("reliability_figure", &ReliabilityFigure, nb::arg("result"));
  m.def("class_reliability_figure", &ClassReliabilityFigure, nb::arg("result"));
  m.def("region_reliability_figure", &RegionReliabilityFigure, nb::arg("result"));
  m.def("risk_coverage_figure", &RiskCoverageFigure, nb::arg("result"));
  m.def("confusion_figure", &ConfusionFigure, nb::arg("result"));
  m.def(
      "forest_figure",
      [](const EvaluateResult& result, const Names& names) {
        return ForestFigure(result, MetricColumns(result, names));
      },
      nb::arg("result"),
      nb::arg("names"));
  m.def(
      "pair_forest_figure",
      [](const Statistics& statistics, const EvaluateResult& result, const Names& names) {
        return PairForestFigure(statistics, MetricColumns(result, names));
      },
      nb::arg("statistics"),
      nb::arg("result"),
      nb::arg("names"));
}

void BindDataFigures(nb::module_& m) {
  m.def(
      "case_figure",
      [](const Dataset& dataset,
         const std::vector<Model>& models,
         const EvaluateResult& result,
         const CaseFigureOptions& options) {
        return WithoutGil([&] { return CaseFigure(dataset, models, result, options); });
      },
      nb::arg("dataset"),
      nb::arg("models"),
      nb::arg("result"),
      nb::arg("options"));
  m.def(
      "evaluation_figures",
      [](const Dataset& dataset,
         const std::vector<Model>& models,
         const EvaluateResult& result,
         const CaseFigureOptions& options) {
        std::vector<std::pair<std::string, std::string>> named;
        for (Figure& figure :
             WithoutGil([&] { return EvaluationFigures(dataset, models, result, options); }))
          named.emplace_back(std::move(figure.name), std::move(figure.svg));
        return named;
      },
      nb::arg("dataset"),
      nb::arg("models"),
      nb::arg("result"),
      nb::arg("options"));
  m.def(
      "free_energy_figure",
      [](const Dataset& dataset,
         const DatasetSummary& summary,
         const FreeEnergyFigureOptions& options) {
        return WithoutGil([&] { return FreeEnergyFigure(dataset, summary, options); });
      },
      nb::arg("dataset"),
      nb::arg("summary"),
      nb::arg("options"));
}

}  // namespace

void BindFigures(nb::module_& m) {
  nb::class_<CaseFigureOptions>(m, "CaseFigureOptions")
      .def(nb::init<>())
      .def_rw("run", &CaseFigureOptions::run)
      .def_rw("case_id", &CaseFigureOptions::case_id);
  nb::class_<FreeEnergyFigureOptions>(m, "FreeEnergyFigureOptions")
      .def(nb::init<>())
      .def_rw("run", &FreeEnergyFigureOptions::run)
      .def_rw("case_ids", &FreeEnergyFigureOptions::case_ids);
  m.def("with_baselines", &WithBaselines, nb::arg("dataset"), nb::arg("models"));
  BindResultFigures(m);
  BindDataFigures(m);
}

}  // namespace segcal::python
