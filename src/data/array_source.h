// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/array.h"
#include "segcal/dataset.h"

namespace segcal {

// Where the file of a source is, the first where there are several.
std::string FullPath(const Dataset& dataset, const ArraySource& source);
// All its files; none where it is in memory.
std::vector<std::string> FullPaths(const Dataset& dataset, const ArraySource& source);

// The same source as a data set in `folder` names it; a view stays a view.
ArraySource RebaseSource(const Dataset& dataset,
                         const ArraySource& source,
                         const std::string& folder);

// A view as an array, without a copy; `name` starts messages. An Error unless it has data, a shape
// and strides that fit each other.
std::unique_ptr<Array> OpenView(const ArrayView& view, const std::string& name);

// Opens one array of a case: its file, or its view, which is called "case <id>: <what>".
std::unique_ptr<Array> OpenSource(const Dataset& dataset,
                                  const Case& entry,
                                  const ArraySource& source,
                                  const std::string& what,
                                  const OpenOptions& open);

}  // namespace segcal
