// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/study_tables.h"

namespace segcal::python {

void BindStudyTables(nb::module_& m) {
  nb::class_<NamedTable>(m, "NamedTable")
      .def_ro("name", &NamedTable::name)
      .def_ro("title", &NamedTable::title)
      .def(
          "render",
          [](const NamedTable& self, TableForm form) { return self.table.Render(form); },
          nb::arg("form"));
  m.def("study_tables", &StudyTables, nb::arg("study"));
  m.def("write_study", &WriteStudy, nb::arg("folder"), nb::arg("study"));
}

}  // namespace segcal::python
