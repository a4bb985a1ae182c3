// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "bind.h"
#include "segcal/run_options.h"

namespace segcal::python {

ProgressCallback ListenTo(nb::object listener) {
  // The library copies callbacks without the interpreter's lock, so they share one reference.
  const auto shared = std::make_shared<const nb::object>(std::move(listener));
  return [shared](const Progress& progress) {
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (shared->is_none()) return true;
    const nb::object go_on =
        (*shared)(progress.stage, progress.done, progress.total, progress.detail);
    return go_on.is_none() || nb::cast<bool>(nb::bool_(go_on));
  };
}

void BindRunOptions(nb::module_& m) {
  nb::class_<RunOptions>(m, "RunOptions")
      .def(nb::init<>())
      .def_rw("threads", &RunOptions::threads)
      .def_rw("memory", &RunOptions::memory)
      .def_rw("cache_dir", &RunOptions::cache_dir)
      .def_rw("skip_bad", &RunOptions::skip_bad)
      .def(
          "listen",
          [](RunOptions& self, nb::object listener) { self.progress = ListenTo(listener); },
          nb::arg("listener").none());
}

}  // namespace segcal::python
