// SPDX-License-Identifier: Apache-2.0
#include "core/progress.h"
#include "core/throw.h"
#include "parts/part_state.h"
#include "pipeline/apply_job.h"
#include "pipeline/case_facts.h"

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
  return {{"id", c.id}, {"files", c.files}, {"knows_place", c.knows_place}};
}

AppliedCase ReadAppliedCase(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  AppliedCase c{.id = object.String("id"),
                .files = object.Strings("files"),
                .knows_place = object.Bool("knows_place")};
  object.Finish();
  return c;
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
  const AppliedCases done = ApplyToCases(model, own, plan, options.run);
  state.plan = {{"pipeline", model.pipeline()},
                {"dataset", cases.name},
                {"warning", MembersWarning(model, cases)}};
  state.done = {{"voxels", done.voxels},
                {"renormalised", done.renormalised},
                {"cases", JsonItems(done.cases, AppliedCaseToJson)}};
  state.num_done = std::ssize(done.cases);
  state.skipped = done.skipped;
  return PartState(std::make_shared<const ApplyState>(std::move(state)));
}

ApplyResult MergeApply(const std::vector<PartState>& parts) {
  const std::vector<const ApplyState*> states = CompleteParts(parts, PartJob::kApply);
  AppliedCases joined;
  for (const ApplyState* state : states) AddApplied(*state, &joined);
  const CaseOrder order(*states.front());
  order.Sort([](const AppliedCase& c) { return c.id; }, &joined.cases);
  order.SortLines(&joined.skipped);
  JsonObject plan(states.front()->plan, states.front()->where + ": plan");
  ApplyResult result = FinishApply(
      plan.String("pipeline"), plan.String("dataset"), plan.String("warning"), std::move(joined));
  plan.Finish();
  if (std::string warning = TargetWarning(states); !warning.empty())
    result.warnings.push_back(std::move(warning));
  return result;
}

}  // namespace segcal
