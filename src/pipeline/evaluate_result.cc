// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "core/throw.h"
#include "pipeline/aggregate.h"
#include "pipeline/case_facts.h"
#include "pipeline/evaluate.h"
#include "pipeline/run.h"

namespace segcal {
namespace {

PipelineMetrics FinishPipeline(const EvaluatePlan& plan,
                               const EvaluatePlan::Pipeline& planned,
                               EvaluatedPipeline* done) {
  PipelineMetrics pipeline;
  pipeline.pipeline = planned.name;
  pipeline.properties = planned.properties;
  pipeline.cases = std::move(done->cases);
  done->pooled.Complete();
  pipeline.pooled = done->pooled.Finish();
  pipeline.diagrams = done->pooled.Diagrams();
  pipeline.mean = MeanOverCases(pipeline.cases, plan.selection, pipeline.pooled);
  // Cases that name a group may all have been left out.
  const bool grouped = std::any_of(pipeline.cases.begin(),
                                   pipeline.cases.end(),
                                   [](const CaseMetrics& c) { return !c.group.empty(); });
  if (grouped) pipeline.groups = std::move(done->groups);
  pipeline.group_mean = MeanOverGroups(pipeline.groups);
  return pipeline;
}

// The stream holds further cases back (StreamOptions), but one must be open.
std::vector<std::string> MemoryWarnings(const EvaluatePlan& plan, const EvaluatedCases& done) {
  const int64_t kept = done.largest_case * plan.bytes_per_voxel();
  if (kept <= done.memory) return {};
  return {fmt::format(
      "metrics that need every voxel of a case hold {:.1f} GiB for the largest, option memory is "
      "{:.1f} GiB: name fewer metrics or pipelines",
      static_cast<double>(kept) * 0x1p-30,
      static_cast<double>(done.memory) * 0x1p-30)};
}

// What is odd about the cases.
std::vector<std::string> OddCases(const EvaluatedCases& done) {
  std::vector<NamedFacts> facts;
  for (const EvaluatedCase& c : done.cases) facts.push_back({c.id, c.labelled, c.constant});
  return CaseWarnings(facts);
}

std::vector<std::string> EnsembleWarnings(const EvaluatePlan& plan) {
  std::vector<std::string> warnings;
  for (const EvaluatePlan::Pipeline& pipeline : plan.pipelines) {
    if (!pipeline.warning.empty()) warnings.push_back(pipeline.warning);
  }
  return warnings;
}

// Cases that models were fitted on.
std::vector<std::string> FittedWarnings(const EvaluatePlan& plan, const EvaluatedCases& done) {
  std::set<std::string> pipelines;
  std::vector<std::string> seen;
  for (const EvaluatedCase& c : done.cases) {
    if (c.known_to.empty()) continue;
    seen.push_back(c.id);
    for (const int64_t m : c.known_to)
      pipelines.insert(plan.pipelines[static_cast<size_t>(m)].name);
  }
  if (seen.empty()) return {};
  return {fmt::format(
      "{} of the {} cases took part in the fit of {} ({}), which look better on them than on "
      "others; option split leaves them out",
      seen.size(),
      done.cases.size(),
      NameSome({pipelines.begin(), pipelines.end()}),
      NameSome(seen))};
}

void Append(std::vector<std::string> more, std::vector<std::string>* lines) {
  std::move(more.begin(), more.end(), std::back_inserter(*lines));
}

}  // namespace

int64_t EvaluatePlan::bytes_per_voxel() const {
  // A voxel's part of a sorted list of confidences (measures/ranked.h) and of what makes it, for
  // one pipeline while a case is completed.
  constexpr int64_t kRankBytes = 72;
  int64_t bytes = BytesPerVoxel(selection, std::ssize(classes)) * std::ssize(pipelines);
  if (bytes > 0) bytes += kRankBytes;
  if (NeedsDistance(selection)) bytes += sizeof(int32_t);
  if (NeedsLengths(selection)) bytes += sizeof(double);
  return bytes;
}

EvaluatedCases NothingEvaluated(const EvaluatePlan& plan) {
  EvaluatedCases nothing;
  for (size_t m = 0; m < plan.pipelines.size(); ++m)
    nothing.pipelines.push_back({{}, {}, Accumulators(plan.context(), plan.selection)});
  return nothing;
}

EvaluateResult FinishEvaluation(const EvaluatePlan& plan, EvaluatedCases done) {
  if (done.cases.empty()) RefuseNoCases(plan.dataset, done.unreadable);
  EvaluateResult result;
  result.dataset = plan.dataset;
  result.split = plan.split;
  result.classes = plan.classes;
  result.voxels = done.voxels;
  result.labelled = done.labelled;
  result.renormalised = done.renormalised;
  for (size_t m = 0; m < plan.pipelines.size(); ++m)
    result.pipelines.push_back(FinishPipeline(plan, plan.pipelines[m], &done.pipelines[m]));
  Append(MemoryWarnings(plan, done), &result.warnings);
  Append(OddCases(done), &result.warnings);
  Append(EnsembleWarnings(plan), &result.warnings);
  Append(FittedWarnings(plan, done), &result.warnings);
  result.skipped = std::move(done.unlabelled);
  Append(std::move(done.unreadable), &result.skipped);
  return result;
}

}  // namespace segcal
