// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/figures.h"

namespace segcal::python {

void BindFigures(nb::module_& m) {
  m.def("reliability_figure", &ReliabilityFigure, nb::arg("result"));
  m.def("class_reliability_figure", &ClassReliabilityFigure, nb::arg("result"));
  m.def("region_reliability_figure", &RegionReliabilityFigure, nb::arg("result"));
  nb::class_<CaseFigureOptions>(m, "CaseFigureOptions")
      .def(nb::init<>())
      .def_rw("run", &CaseFigureOptions::run)
      .def_rw("case_id", &CaseFigureOptions::case_id);
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
}

}  // namespace segcal::python
