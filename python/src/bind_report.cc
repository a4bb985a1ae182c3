// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/report.h"

namespace segcal::python {

void BindReport(nb::module_& m) {
  nb::class_<ReportOptions>(m, "ReportOptions")
      .def(nb::init<>())
      .def_rw("run", &ReportOptions::run)
      .def_rw("dataset", &ReportOptions::dataset)
      .def_rw("cases", &ReportOptions::cases)
      .def_rw("case_ids", &ReportOptions::case_ids)
      .def_rw("max_bytes", &ReportOptions::max_bytes);
  nb::class_<ReportResult>(m, "ReportResult")
      .def_ro("html", &ReportResult::html)
      .def_ro("explored", &ReportResult::explored)
      .def_ro("missing", &ReportResult::missing);
  m.def(
      "make_report",
      [](const std::string& folder, const ReportOptions& options) {
        return WithoutGil([&] { return MakeReport(folder, options); });
      },
      nb::arg("folder"),
      nb::arg("options"));
}

}  // namespace segcal::python
