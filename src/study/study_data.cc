// SPDX-License-Identifier: Apache-2.0
#include "study/study_data.h"

#include <algorithm>

#include "core/throw.h"
#include "pipeline/run.h"
#include "pipeline/spec.h"

namespace segcal {
namespace {

bool IsInMemory(const Dataset& dataset) {
  const auto in_memory = [](const ArraySource& source) { return source.in_memory(); };
  return std::any_of(dataset.cases.begin(), dataset.cases.end(), [&](const Case& c) {
    return in_memory(c.labels) || in_memory(c.image) || in_memory(c.mask) ||
           std::any_of(c.members.begin(), c.members.end(), in_memory);
  });
}

}  // namespace

UnitStore OpenUnitStore(const Dataset& dataset, const CompareOptions& options) {
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
