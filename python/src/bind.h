// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <initializer_list>

#include "segcal/dataset.h"
#include "segcal/progress.h"
#include "segcal/statistics.h"
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

// A type by its name, "float32"; one that is not allowed is an Error.
DType FloatType(const std::string& name, std::initializer_list<DType> allowed);

// Pipelines to be compared two by two.
using Pairs = std::vector<std::pair<std::string, std::string>>;
std::vector<PipelinePair> PairsOf(const Pairs& names);
Pairs NamesOf(const std::vector<PipelinePair>& pairs);

inline nb::bytes BytesOf(const std::string& text) { return nb::bytes(text.data(), text.size()); }

// Long calls let other Python threads run.
template <class Call>
auto WithoutGil(const Call& call) {
  const nb::gil_scoped_release released;
  return call();
}

void BindAccumulate(nb::module_& m);
void BindApply(nb::module_& m);
void BindCompare(nb::module_& m);
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
void BindOnnx(nb::module_& m);
void BindReport(nb::module_& m);
void BindRunOptions(nb::module_& m);
void BindSimulate(nb::module_& m);
void BindStudy(nb::module_& m);
void BindStudyTables(nb::module_& m);
void BindTables(nb::module_& m);
void BindVerify(nb::module_& m);

}  // namespace segcal::python
