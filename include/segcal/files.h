// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "segcal/export.h"

namespace segcal {

// Writes a text file, such as a result as JSON or a figure: it appears under its name complete, or
// not at all.
SEGCAL_EXPORT void WriteText(const std::string& path, std::string_view text);

// Makes the folder and those above it, unless they are there.
SEGCAL_EXPORT void CreateFolder(const std::string& path);
// The same for the folder a file is to be in.
SEGCAL_EXPORT void CreateParentFolder(const std::string& file);

}  // namespace segcal
