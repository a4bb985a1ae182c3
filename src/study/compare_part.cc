// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/progress.h"
#include "core/throw.h"
#include "parts/deal.h"
#include "pipeline/compatible.h"
#include "segcal/parts.h"
#include "study/plan.h"
#include "study/sensitivity.h"
#include "study/study_data.h"
#include "study/unit_runner.h"

namespace segcal {
namespace {

// Pipelines of a repeat take turns, and every repeat begins where the last one ended: long fits of
// one kind, which stand side by side, come to different parts.
std::vector<std::string> OwnPipelines(const StudyPlan& plan, size_t repeat, const Part& part) {
  std::vector<std::string> own;
  for (size_t p = 0; p < plan.pipelines.size(); ++p) {
    const auto unit = static_cast<int64_t>(repeat * plan.pipelines.size() + p);
    if (unit % part.count == part.index - 1) own.push_back(plan.pipelines[p]);
  }
  return own;
}

// As if all repeats had the pipelines of this part.
int64_t CountOwnUnits(const StudyPlan& plan, const CompareOptions& options, const Part& part) {
  int64_t units = part.index == 1 ? 1 : 0;
  for (size_t r = 0; r < plan.partitions.size(); ++r) {
    StudyPlan own = plan;
    own.pipelines = OwnPipelines(plan, r, part);
    const auto fits = std::count_if(own.pipelines.begin(), own.pipelines.end(), NeedsFit);
    units += fits + (2 + std::ssize(options.shifts)) * std::ssize(own.pipelines) +
             CountSensitivityUnits(own, options);
  }
  return units;
}

void RunOwnUnits(const StudyPlan& plan,
                 const CompareOptions& options,
                 size_t r,
                 const Part& part,
                 UnitRunner* runner) {
  const std::vector<std::string> own = OwnPipelines(plan, r, part);
  if (own.empty()) return;
  const Partition& partition = plan.partitions[r];
  const auto repeat = static_cast<int64_t>(r);
  const std::string what = fmt::format("repeat {}", r);
  const FittedModels fitted = runner->Fit(partition, own, repeat, what);
  runner->Evaluate(fitted, partition.validation, plan.on_validation, repeat, what + ", validation");
  runner->Evaluate(fitted, partition.test, plan.on_test, repeat, what + ", test");
  for (const ShiftedData& shift : options.shifts) {
    runner->Evaluate(
        fitted, shift.dataset, plan.on_test, repeat, fmt::format("{}, shift {}", what, shift.name));
  }
  RunSensitivityUnits(plan, options, fitted, r, runner);
}

}  // namespace

StudyPart ComparePart(const Dataset& dataset, const CompareOptions& given, const Part& part) {
  CompareOptions options = given;
  CheckDataset(dataset, DatasetTitle(dataset));
  CheckPart(part);
  if (options.folder.empty()) {
    Throw(ErrorCode::kInvalidArgument,
          "part {} of a study has no folder to keep its units in",
          Name(part));
  }
  options.resume = true;  // other parts keep theirs in the same folder
  StudyPlan plan = MakePlan(dataset, options);
  UnitProgress progress(options.run.progress, CountOwnUnits(plan, options, part));
  options.run.progress = {};
  const ProgressScope scope(progress.Listener());
  const UnitStore store = OpenUnitStore(dataset, options);
  StudyPart done;
  const Dataset readable = ReadableStudyCases(dataset, plan, &options, &done.warnings);
  if (readable.cases.size() != dataset.cases.size()) plan = MakePlan(readable, options);
  UnitRunner runner(options, store, &progress);
  if (part.index == 1) runner.Inspect(readable);
  for (size_t r = 0; r < plan.partitions.size(); ++r) RunOwnUnits(plan, options, r, part, &runner);
  done.units = CountOwnUnits(plan, options, part) - std::ssize(runner.failures());
  done.failures = runner.failures();
  return done;
}

}  // namespace segcal
