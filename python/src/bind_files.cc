// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string_view.h>

#include "bind.h"
#include "segcal/files.h"

namespace segcal::python {

void BindFiles(nb::module_& m) {
  m.def("write_text", &WriteText, nb::arg("path"), nb::arg("text"));
}

}  // namespace segcal::python
