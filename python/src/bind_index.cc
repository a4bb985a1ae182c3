// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/index.h"

namespace segcal::python {

void BindIndex(nb::module_& m) {
  m.def("numbered_classes", &NumberedClasses, nb::arg("num_classes"));
}

}  // namespace segcal::python
