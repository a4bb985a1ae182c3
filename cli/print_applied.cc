// SPDX-License-Identifier: Apache-2.0
#include "cli/print_applied.h"

#include <fmt/format.h>

#include "cli/command.h"

namespace segcal::cli {

void PrintApplied(const ApplyResult& result, const std::string& folder, bool json) {
  ReportSkipped(result.skipped);
  ReportRenormalised(result.renormalised);
  for (const std::string& warning : result.warnings) Warn(warning);
  if (json) {
    fmt::print("{}", ToJson(result));
    return;
  }
  fmt::print("{}: wrote {} files, {} voxels{}\n",
             result.pipeline,
             result.files.size(),
             HumanCount(result.voxels),
             folder.empty() ? "" : ", to " + folder);
}

}  // namespace segcal::cli
