// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/verify.h"

namespace segcal::python {

void BindVerify(nb::module_& m) {
  nb::class_<VerifyOptions>(m, "VerifyOptions")
      .def(nb::init<>())
      .def_rw("run", &VerifyOptions::run)
      .def_rw("voxels", &VerifyOptions::voxels)
      .def_rw("seed", &VerifyOptions::seed)
      .def_rw("split", &VerifyOptions::split)
      .def_rw("max_examples", &VerifyOptions::max_examples);
  m.def(
      "verify",
      [](const Model& model, const Dataset* dataset, const VerifyOptions& options) {
        return ToJson(WithoutGil([&] {
          return dataset != nullptr ? Verify(model, *dataset, options) : Verify(model, options);
        }));
      },
      nb::arg("model"),
      nb::arg("dataset").none(),
      nb::arg("options"));
}

}  // namespace segcal::python
