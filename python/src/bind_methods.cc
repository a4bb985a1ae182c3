// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/methods.h"

namespace segcal::python {

void BindMethods(nb::module_& m) {
  nb::class_<CalibratorDescription>(m, "CalibratorDescription")
      .def_ro("name", &CalibratorDescription::name)
      .def_ro("summary", &CalibratorDescription::summary)
      .def_ro("reference", &CalibratorDescription::reference)
      .def_ro("options", &CalibratorDescription::options)
      .def_ro("composes", &CalibratorDescription::composes)
      .def("__repr__", [](const CalibratorDescription& self) {
        return "<calibrator " + self.name + ": " + self.summary + ">";
      });
  nb::class_<MetricDescription>(m, "MetricDescription")
      .def_ro("name", &MetricDescription::name)
      .def_ro("summary", &MetricDescription::summary)
      .def_ro("pooled", &MetricDescription::pooled)
      .def("__repr__", [](const MetricDescription& self) {
        return "<metric " + self.name + ": " + self.summary + ">";
      });
  nb::class_<MetricFamilyDescription>(m, "MetricFamilyDescription")
      .def_ro("name", &MetricFamilyDescription::name)
      .def_ro("reference", &MetricFamilyDescription::reference)
      .def_ro("metrics", &MetricFamilyDescription::metrics)
      .def_ro("options", &MetricFamilyDescription::options)
      .def_ro("on_request", &MetricFamilyDescription::on_request)
      .def("__repr__",
           [](const MetricFamilyDescription& self) { return "<metric family " + self.name + ">"; });
  m.def("list_calibrators", &ListCalibrators);
  m.def("list_metrics", &ListMetrics);
  m.def("active_target", &ActiveTarget);
  m.def("supported_targets", &SupportedTargets);
}

}  // namespace segcal::python
