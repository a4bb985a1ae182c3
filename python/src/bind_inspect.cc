// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/inspect.h"

namespace segcal::python {

void BindInspect(nb::module_& m) {
  nb::class_<DatasetSummary>(m, "DatasetSummary").def("to_json", [](const DatasetSummary& self) {
    return ToJson(self);
  });
  m.def(
      "inspect",
      [](const Dataset& dataset, const RunOptions& run) {
        return WithoutGil([&] { return Inspect(dataset, run); });
      },
      nb::arg("dataset"),
      nb::arg("run"));
}

}  // namespace segcal::python
