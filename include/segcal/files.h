// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace segcal {

// Writes a text file, such as a result as JSON or a figure: it appears under its name complete, or
// not at all.
void WriteText(const std::string& path, std::string_view text);

// Makes the folder and those above it, unless they are there.
void CreateFolder(const std::string& path);
// The same for the folder a file is to be in.
void CreateParentFolder(const std::string& file);

}  // namespace segcal
