// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/study.h"

namespace segcal::python {

void BindStudy(nb::module_& m) {
  nb::class_<Study>(m, "Study")
      .def("to_json", [](const Study& self) { return ToJson(self); })
      .def_static("from_json", &StudyFromJson, nb::arg("text"), nb::arg("where"))
      .def("cases_csv", &CasesCsv)
      .def_ro("statistics", &Study::statistics)
      .def_prop_ro("repeats", [](const Study& self) {
        std::vector<EvaluateResult> results;
        for (const StudyRepeat& repeat : self.repeats) results.push_back(repeat.result);
        return results;
      });
  nb::class_<StudyRun>(m, "StudyRun")
      .def(nb::init<>())
      .def_rw("dataset", &StudyRun::dataset)
      .def_rw("shifts", &StudyRun::shifts)
      .def_rw("command", &StudyRun::command)
      .def("to_json", [](const StudyRun& self) { return ToJson(self); });
}

}  // namespace segcal::python
