// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/model.h"

namespace segcal::python {

void BindModel(nb::module_& m) {
  nb::class_<Model>(m, "Model")
      .def_static("load", &Model::Load, nb::arg("path"))
      .def("save", &Model::Save, nb::arg("path"))
      .def_static("from_json", &Model::FromJson, nb::arg("text"), nb::arg("where"))
      .def("to_json", &Model::ToJson)
      .def_prop_ro("pipeline", &Model::pipeline)
      .def_prop_ro("file", &Model::file)
      .def_prop_ro("num_members", &Model::num_members)
      .def_prop_ro("classes", &Model::classes)
      .def_prop_ro("input", [](const Model& self) { return Name(self.input()); })
      .def_prop_ro("translation_invariant", &Model::translation_invariant)
      .def_prop_ro("preserves", [](const Model& self) { return Name(self.preserves()); })
      .def_prop_ro("report", [](const Model& self) { return ToJson(self.report()); })
      .def_prop_ro("num_parameters",
                   [](const Model& self) {
                     const ParameterCounts counts = self.parameter_counts();
                     return std::pair(counts.optimised, counts.identifiable);
                   })
      .def_prop_ro("inverse_temperature", &Model::inverse_temperature);
  m.def("load_models", &LoadModels, nb::arg("path"));
}

}  // namespace segcal::python
