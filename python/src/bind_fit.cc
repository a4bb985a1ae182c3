// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/fit.h"

namespace segcal::python {

void BindFit(nb::module_& m) {
  nb::class_<FitOptions>(m, "FitOptions")
      .def(nb::init<>())
      .def_rw("run", &FitOptions::run)
      .def_rw("split", &FitOptions::split)
      .def_rw("validation", &FitOptions::validation)
      .def_rw("search", &FitOptions::search)
      .def_prop_rw(
          "select",
          [](const FitOptions& self) { return std::string(self.select ? Name(*self.select) : ""); },
          [](FitOptions& self, const std::string& name) { self.select = ParseSelection(name); })
      .def_rw("seed", &FitOptions::seed)
      .def_rw("checkpoint", &FitOptions::checkpoint)
      .def_rw("resume", &FitOptions::resume);
  m.def(
      "fit",
      [](const Dataset& dataset, const std::string& pipeline, const FitOptions& options) {
        FitResult result = WithoutGil([&] { return Fit(dataset, pipeline, options); });
        return std::pair(std::move(result.model), std::move(result.skipped));
      },
      nb::arg("dataset"),
      nb::arg("pipeline"),
      nb::arg("options"));
  m.def("expand_pipelines", &ExpandPipelines, nb::arg("names"));
}

}  // namespace segcal::python
