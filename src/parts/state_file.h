// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/json.h"

namespace segcal {

// A text that people can read, and bytes that they cannot, in one file with a checksum:
//
//   segcal part 1 <bytes that follow> <bytes of the text> <hash of what follows>
//   the text, JSON
//   the bytes, one string after the other
struct StateFile {
  Json text;
  std::vector<std::string> bytes;
};

std::string WriteStateFile(const StateFile& file);
// What is cut short, damaged or something else is an Error; `where` starts it.
StateFile ReadStateFile(const std::string& content, const std::string& where);

}  // namespace segcal
