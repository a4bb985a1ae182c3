// SPDX-License-Identifier: Apache-2.0
#include "cli/part_flags.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/throw.h"

namespace segcal::cli {

Part PartFlags::Parse() const {
  try {
    return ParsePart(part);
  } catch (const Error& error) {
    Throw(error.code(), "--part: {}", error.what());
  }
}

CLI::Option* AddPartFlags(CLI::App& app, PartFlags* flags, const std::vector<CLI::Option*>& whole) {
  CLI::Option* part =
      app.add_option("--part",
                     flags->part,
                     "I/N: only part I of N, for N processes or machines; segcal merge joins what "
                     "they leave in --state");
  CLI::Option* state = app.add_option("--state", flags->state, "File for what a part leaves");
  part->needs(state);
  state->needs(part);
  flags->whole = whole;
  return part;
}

void CheckPartFlags(const PartFlags& flags) {
  if (!flags.given()) return;
  flags.Parse();
  for (const CLI::Option* option : flags.whole) {
    if (option->count() == 0) continue;
    Throw(ErrorCode::kInvalidArgument,
          "{} does not go with --part: the result of all parts is what segcal merge shows and "
          "writes",
          option->get_name());
  }
}

void CheckPartFile(const PartFlags& flags, OutputCheck* check) {
  if (flags.given()) check->Writes(flags.state, FileKind::kPart);
}

void SavePart(const PartFlags& flags, const PartState& state) {
  ReportSkipped(state.skipped());
  NewFolders folders;
  folders.MakeParent(flags.state);
  state.Save(flags.state);
  fmt::print("part {} of {}: {} of {}\nwrote {}\n",
             Name(state.part()),
             Name(state.job()),
             state.cases(),
             Counted(state.all_cases(), "case"),
             flags.state);
}

}  // namespace segcal::cli
