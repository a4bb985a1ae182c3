// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "segcal/files.h"
#include "segcal/parts.h"

namespace segcal::cli {

// --part and --state: the same for every command that can be done in parts.
struct PartFlags {
  std::string part;
  std::string state;
  std::vector<CLI::Option*> whole = {};  // options that a part has no use for

  bool given() const noexcept { return !part.empty(); }
  Part Parse() const;
};

// Each needs the other; a part does not go with `whole`. Returns --part.
CLI::Option* AddPartFlags(CLI::App& app, PartFlags* flags, const std::vector<CLI::Option*>& whole);

// Before the work, if a part is asked for: whether there is such a part and what else is asked for;
// the file of its state.
void CheckPartFlags(const PartFlags& flags);
void CheckPartFile(const PartFlags& flags, OutputCheck* check);

// Writes the state and says so.
void SavePart(const PartFlags& flags, const PartState& state);

}  // namespace segcal::cli
