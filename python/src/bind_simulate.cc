// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/simulate.h"

namespace segcal::python {

void BindSimulate(nb::module_& m) {
  nb::class_<SimulateOptions>(m, "SimulateOptions")
      .def(nb::init<>())
      .def_rw("preset", &SimulateOptions::preset)
      .def_rw("num_cases", &SimulateOptions::num_cases)
      .def_rw("num_members", &SimulateOptions::num_members)
      .def_rw("num_classes", &SimulateOptions::num_classes)
      .def_rw("size", &SimulateOptions::size)
      .def_rw("seed", &SimulateOptions::seed)
      .def_rw("true_map", &SimulateOptions::true_map)
      .def_rw("temperature", &SimulateOptions::temperature)
      .def_rw("variation", &SimulateOptions::variation)
      .def_rw("correlation", &SimulateOptions::correlation)
      .def_rw("offset", &SimulateOptions::offset)
      .def_rw("member_noise", &SimulateOptions::member_noise)
      .def_rw("ignore_fraction", &SimulateOptions::ignore_fraction)
      .def_rw("splits", &SimulateOptions::splits)
      .def_prop_rw(
          "dtype",
          [](const SimulateOptions& self) { return Name(self.dtype); },
          [](SimulateOptions& self, const std::string& name) {
            self.dtype = FloatType(name, {DType::kF16, DType::kF32});
          })
      .def_prop_rw(
          "input",
          [](const SimulateOptions& self) { return Name(self.input); },
          [](SimulateOptions& self, const std::string& kind) { self.input = ParseInputKind(kind); })
      .def_rw("threads", &SimulateOptions::threads);
  m.def(
      "simulate",
      [](const std::string& folder, const SimulateOptions& options, nb::object listener) {
        const ProgressCallback progress = ListenTo(std::move(listener));
        return ToJson(WithoutGil([&] { return Simulate(folder, options, progress); }));
      },
      nb::arg("folder"),
      nb::arg("options"),
      nb::arg("listener").none());
}

}  // namespace segcal::python
