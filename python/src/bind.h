// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "segcal/dataset.h"
#include "segcal/progress.h"
#include "segcal/views.h"

// The module segcal._core mirrors the public headers, one file each. It has no defaults and no
// arithmetic: the library has the former, and what Python users see is the package around it.
namespace segcal::python {

namespace nb = nanobind;

// Anything with the buffer protocol or DLPack, in the memory of this process. What is read or
// written through a view must be kept alive by the caller.
ArrayView ViewOf(nb::handle array);
ArraySpan SpanOf(nb::handle array);
// None, a path, or an array.
ArraySource SourceOf(nb::handle source);

// Looks for Ctrl-C, and tells `listener(stage, done, total, detail)`, unless it is None; it stops
// the call by returning False.
ProgressCallback ListenTo(nb::object listener);

// Long calls let other Python threads run.
template <class Call>
auto WithoutGil(const Call& call) {
  const nb::gil_scoped_release released;
  return call();
}

void BindAccumulate(nb::module_& m);
void BindApply(nb::module_& m);
void BindDataset(nb::module_& m);
void BindErrors(nb::module_& m);
void BindEvaluate(nb::module_& m);
void BindFigures(nb::module_& m);
void BindFiles(nb::module_& m);
void BindFit(nb::module_& m);
void BindIndex(nb::module_& m);
void BindInspect(nb::module_& m);
void BindMethods(nb::module_& m);
void BindModel(nb::module_& m);
void BindRunOptions(nb::module_& m);
void BindSimulate(nb::module_& m);
void BindTables(nb::module_& m);
void BindVerify(nb::module_& m);

}  // namespace segcal::python
