// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/accumulate.h"

namespace segcal::python {
void BindAccumulate(nb::module_& m) {
  nb::class_<MetricValue>(m, "MetricValue")
      .def_ro("name", &MetricValue::name)
      .def_ro("value", &MetricValue::value)
      .def_ro("per_class", &MetricValue::per_class);
  nb::class_<Diagram>(m, "Diagram")
      .def_prop_ro("kind", [](const Diagram& self) { return Name(self.kind); })
      .def_ro("about", &Diagram::about)
      .def_ro("class_index", &Diagram::class_index)
      .def_prop_ro("columns",
                   [](const Diagram& self) {
                     std::vector<std::string> names;
                     for (const DiagramColumn& column : self.columns) names.push_back(column.name);
                     return names;
                   })
      .def_ro("rows", &Diagram::rows);
  nb::class_<MetricSums>(m, "MetricSums")
      .def(nb::init<const Model&, const Dataset&, const EvaluateOptions&>(),
           nb::arg("model"),
           nb::arg("like"),
           nb::arg("options"))
      .def(nb::init<const MetricSums&>())
      .def(
          "add",
          [](MetricSums& self, const Dataset& cases) { WithoutGil([&] { self.Add(cases); }); },
          nb::arg("cases"))
      .def("merge", &MetricSums::Merge, nb::arg("other"))
      .def("reset", &MetricSums::Reset)
      .def("values", &MetricSums::Values)
      .def("diagrams", &MetricSums::Diagrams)
      .def_prop_ro("cases", &MetricSums::cases)
      .def_prop_ro("voxels", &MetricSums::voxels)
      .def_prop_ro("labelled", &MetricSums::labelled)
      .def("pack", [](const MetricSums& self) { return BytesOf(self.Pack()); })
      .def(
          "merge_packed",
          [](MetricSums& self, const nb::bytes& bytes) {
            self.MergePacked({bytes.c_str(), bytes.size()});
          },
          nb::arg("bytes"));
}

}  // namespace segcal::python
