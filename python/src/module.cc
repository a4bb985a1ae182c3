// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/version.h"

namespace nb = nanobind;

NB_MODULE(_core, m) {
  using namespace segcal::python;
  m.attr("__version__") = segcal::kVersion;
  BindErrors(m);
  BindRunOptions(m);
  BindDataset(m);
  BindModel(m);
  BindFit(m);
  BindApply(m);
  BindEvaluate(m);
  BindAccumulate(m);
  BindVerify(m);
  BindSimulate(m);
  BindIndex(m);
  BindInspect(m);
  BindMethods(m);
  BindTables(m);
  BindFigures(m);
  BindFiles(m);
  BindStudy(m);
  BindStudyTables(m);
  BindCompare(m);
  BindReport(m);
  BindOnnx(m);
}
