// SPDX-License-Identifier: Apache-2.0
#include "study/study_data.h"

#include <algorithm>
#include <filesystem>

#include "core/json.h"
#include "core/throw.h"
#include "pipeline/run.h"
#include "pipeline/spec.h"
#include "segcal/files.h"

namespace segcal {
namespace {

namespace fs = std::filesystem;

// Whether there is something of that name, a link that leads nowhere among it.
bool IsThere(const fs::path& path) {
  std::error_code none;
  return fs::exists(fs::symlink_status(path, none));
}

// Every study leaves one of them, and what it writes beside them is its own.
bool HoldsStudy(const fs::path& folder) {
  if (IsThere(folder / "units")) return true;
  try {
    return ReadJson((folder / "timing.json").string()).contains("segcal_timing");
  } catch (const Error&) {
    return false;
  }
}

// Before the work: what others have in the folder is not written over.
void CheckStudyFolder(const CompareOptions& options) {
  if (options.folder.empty()) return;
  OutputCheck().WritesInto(options.folder);
  const fs::path folder(options.folder);
  if (options.force || HoldsStudy(folder)) return;
  for (const char* name : {"study.json",
                           "cases.csv",
                           "recommended.json",
                           "run.json",
                           "timing.json",
                           "models",
                           "tables"}) {
    if (!IsThere(folder / name)) continue;
    Throw(ErrorCode::kInvalidArgument,
          "{}: is there and is not of a study; choose another folder (option force writes over it)",
          (folder / name).string());
  }
}

bool IsInMemory(const Dataset& dataset) {
  const auto in_memory = [](const ArraySource& source) { return source.in_memory(); };
  return std::any_of(dataset.cases.begin(), dataset.cases.end(), [&](const Case& c) {
    return in_memory(c.labels) || in_memory(c.image) || in_memory(c.mask) ||
           std::any_of(c.members.begin(), c.members.end(), in_memory);
  });
}

}  // namespace

UnitStore OpenUnitStore(const Dataset& dataset, const CompareOptions& options) {
  CheckStudyFolder(options);
  const bool in_memory =
      IsInMemory(dataset) ||
      std::any_of(options.shifts.begin(), options.shifts.end(), [](const ShiftedData& shift) {
        return IsInMemory(shift.dataset);
      });
  if (!in_memory) return {options.folder, options.resume};
  if (options.resume)
    Throw(ErrorCode::kInvalidArgument, "a study of arrays in memory cannot be resumed");
  return {"", false};
}

Dataset ReadableStudyCases(const Dataset& dataset,
                           const StudyPlan& plan,
                           CompareOptions* options,
                           std::vector<std::string>* warnings) {
  if (!options->run.skip_bad) return dataset;
  std::vector<Pooling> poolings;
  for (const std::string& pipeline : plan.pipelines)
    poolings.push_back(ParsePipeline(pipeline).pooling);
  std::vector<std::string> skipped;
  Dataset readable = ReadableCases(dataset, poolings, options->run, &skipped);
  for (const std::string& line : skipped)
    warnings->push_back(
        fmt::format("case {} cannot be read and was left out", line.substr(0, line.find(": "))));
  options->run.skip_bad = false;
  return readable;
}

}  // namespace segcal
