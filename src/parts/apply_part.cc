// SPDX-License-Identifier: Apache-2.0
#include "core/progress.h"
#include "core/throw.h"
#include "parts/part_state.h"
#include "pipeline/apply_nnunet.h"
#include "segcal/files.h"

namespace segcal {
namespace {

using ApplyState = PartState::State;

std::string DescribeOptions(const ApplyOptions& options) {
  return fmt::format("{}\n{}\n{} {} {} {}",
                     options.split,
                     fmt::join(options.write, ","),
                     options.format,
                     Name(options.dtype),
                     options.compress,
                     options.run.skip_bad);
}

Json AppliedCaseToJson(const AppliedCase& c) {
  return {{"id", c.id},
          {"files", c.files},
          {"knows_place", c.knows_place},
          {"carried_over", c.carried_over},
          {"not_there", c.not_there}};
}

AppliedCase ReadAppliedCase(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  AppliedCase c{.id = object.String("id"),
                .files = object.Strings("files"),
                .knows_place = object.Bool("knows_place"),
                .carried_over = object.String("carried_over"),
                .not_there = object.String("not_there")};
  object.Finish();
  return c;
}

Json SummaryToJson(const ApplySummary& summary) {
  return {{"pipeline", summary.pipeline},
          {"dataset", summary.dataset},
          {"ensemble", summary.ensemble},
          {"notes", summary.notes},
          {"files", summary.files},
          {"warnings", summary.warnings}};
}

ApplySummary ReadSummary(const ApplyState& state) {
  JsonObject object(state.plan, state.where + ": plan");
  ApplySummary summary{.pipeline = object.String("pipeline"),
                       .dataset = object.String("dataset"),
                       .ensemble = object.String("ensemble"),
                       .notes = object.Strings("notes"),
                       .files = object.Strings("files"),
                       .warnings = object.Strings("warnings")};
  object.Finish();
  return summary;
}

void AddApplied(const ApplyState& state, AppliedCases* joined) {
  JsonObject object(state.done, state.where + ": done");
  joined->voxels += object.Integer("voxels");
  joined->renormalised += object.Integer("renormalised");
  for (AppliedCase& c : object.Items("cases", ReadAppliedCase))
    joined->cases.push_back(std::move(c));
  object.Finish();
  joined->skipped.insert(joined->skipped.end(), state.skipped.begin(), state.skipped.end());
}

PartState FinishState(ApplyState state, const ApplySummary& summary, const AppliedCases& done) {
  state.plan = SummaryToJson(summary);
  state.done = {{"voxels", done.voxels},
                {"renormalised", done.renormalised},
                {"cases", JsonItems(done.cases, AppliedCaseToJson)}};
  state.num_done = std::ssize(done.cases);
  state.skipped = done.skipped;
  return PartState(std::make_shared<const ApplyState>(std::move(state)));
}

}  // namespace

PartState ApplyPart(const Model& model,
                    const Dataset& dataset,
                    const std::string& folder,
                    const ApplyOptions& options,
                    const Part& part) {
  const ProgressScope scope(options.run.progress);
  const Dataset cases = CasesToApply(model, dataset, options);
  const std::string described = DescribeOptions(options);
  ApplyState state =
      StartState(IdentifyJob(PartJob::kApply, cases, {model}, described, part), cases, part);
  const Dataset own = SelectPart(cases, part);
  ApplyPlan plan = PlanApply(own, folder, options);
  plan.shared = true;
  return FinishState(
      std::move(state), SummariseApply(model, cases), ApplyToCases(model, own, plan, options.run));
}

PartState ApplyNnunetPart(const Model& model,
                          const std::vector<std::string>& inputs,
                          const std::string& folder,
                          const NnunetApplyOptions& options,
                          const Part& part) {
  const ProgressScope scope(options.run.progress);
  const NnunetJob job(model, inputs, folder, options, /*shared=*/true);
  const std::string described = fmt::format("nnunet {}", options.run.skip_bad);
  ApplyState state = StartState(
      IdentifyJob(PartJob::kApply, job.dataset(), {model}, described, part), job.dataset(), part);
  const AppliedCases done = job.Run(SelectPart(job.dataset(), part));
  CreateFolder(folder);
  return FinishState(std::move(state), job.Summarise(), done);
}

ApplyResult MergeApply(const std::vector<PartState>& parts) {
  const std::vector<const ApplyState*> states = CompleteParts(parts, PartJob::kApply);
  AppliedCases joined;
  for (const ApplyState* state : states) AddApplied(*state, &joined);
  const CaseOrder order(*states.front());
  order.Sort([](const AppliedCase& c) { return c.id; }, &joined.cases);
  order.SortLines(&joined.skipped);
  ApplyResult result = FinishApply(ReadSummary(*states.front()), std::move(joined));
  if (std::string warning = TargetWarning(states); !warning.empty())
    result.warnings.push_back(std::move(warning));
  return result;
}

}  // namespace segcal
