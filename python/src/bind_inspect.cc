// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/inspect.h"

namespace segcal::python {

void BindInspect(nb::module_& m) {
  m.def(
      "inspect",
      [](const Dataset& dataset, const RunOptions& run) {
        return ToJson(WithoutGil([&] { return Inspect(dataset, run); }));
      },
      nb::arg("dataset"),
      nb::arg("run"));
}

}  // namespace segcal::python
