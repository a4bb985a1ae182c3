// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/progress.h"
#include "core/throw.h"
#include "parts/part_state.h"
#include "pipeline/inspect.h"
#include "results/inspect_json.h"

namespace segcal {
namespace {

using InspectState = PartState::State;

Json InspectedCaseToJson(const InspectedCase& c) {
  return {{"summary", CaseSummaryToJson(c.summary)},
          {"has_labels", c.has_labels},
          {"constant", c.constant},
          {"label_counts", c.label_counts},
          {"decision_counts", c.decision_counts},
          {"repeated", c.repeated},
          {"repeated_example", JsonNumbers(c.repeated_example)},
          {"renormalised", c.renormalised}};
}

InspectedCase ReadInspectedCase(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  InspectedCase c;
  c.summary = ReadCaseSummary(object.Object("summary"), where + ": summary");
  c.has_labels = object.Bool("has_labels");
  c.constant = object.Integers("constant");
  c.label_counts = object.Integers("label_counts");
  c.decision_counts = object.Integers("decision_counts");
  c.repeated = object.Integer("repeated");
  c.repeated_example = object.AnyNumbers("repeated_example");
  c.renormalised = object.Integer("renormalised");
  object.Finish();
  return c;
}

InspectPlan ReadInspectPlan(const InspectState& state) {
  JsonObject object(state.plan, state.where + ": plan");
  InspectPlan plan;
  plan.name = object.String("name");
  plan.classes = object.Strings("classes");
  plan.input = object.Parse("input", ParseInputKind);
  plan.members = object.Integer("members");
  object.Finish();
  if (plan.classes.empty() || plan.members < 1) {
    Throw(ErrorCode::kBadData,
          "{}: {} classes and {} members, at least one of each is required",
          state.where,
          plan.classes.size(),
          plan.members);
  }
  return plan;
}

// Sums of such counts over any number of cases stay within 64 bits.
bool IsCount(int64_t count) {
  constexpr int64_t kMostVoxels = int64_t{1} << 40;
  return count >= 0 && count <= kMostVoxels;
}

// Sums and spreads go by place.
void CheckSizes(const InspectPlan& plan, const InspectedCase& c, const std::string& where) {
  const bool fit = c.label_counts.size() == plan.classes.size() &&
                   c.decision_counts.size() == plan.classes.size() &&
                   std::ssize(c.summary.free_energy_std_by_size) == plan.members &&
                   std::all_of(c.label_counts.begin(), c.label_counts.end(), IsCount) &&
                   std::all_of(c.decision_counts.begin(), c.decision_counts.end(), IsCount) &&
                   IsCount(c.repeated) && IsCount(c.renormalised);
  if (!fit) {
    Throw(ErrorCode::kBadData,
          "{}: case {} does not have counts of {} classes and values of {} members",
          where,
          c.summary.id,
          plan.classes.size(),
          plan.members);
  }
}

void AddInspected(const InspectPlan& plan, const InspectState& state, InspectedCases* joined) {
  JsonObject object(state.done, state.where + ": done");
  for (InspectedCase& c : object.Items("cases", ReadInspectedCase)) {
    CheckSizes(plan, c, object.where());
    joined->cases.push_back(std::move(c));
  }
  object.Finish();
  joined->skipped.insert(joined->skipped.end(), state.skipped.begin(), state.skipped.end());
}

}  // namespace

PartState InspectPart(const Dataset& dataset, const RunOptions& options, const Part& part) {
  const ProgressScope scope(options.progress);
  const InspectPlan plan = PlanInspection(dataset);
  const std::string described = fmt::format("{}", options.skip_bad);
  InspectState state =
      StartState(IdentifyJob(PartJob::kInspect, dataset, {}, described, part), dataset, part);
  const InspectedCases done = InspectCases(SelectPart(dataset, part), options);
  state.plan = {{"name", plan.name},
                {"classes", plan.classes},
                {"input", Name(plan.input)},
                {"members", plan.members}};
  state.done = {{"cases", JsonItems(done.cases, InspectedCaseToJson)}};
  state.num_done = std::ssize(done.cases);
  state.skipped = done.skipped;
  return PartState(std::make_shared<const InspectState>(std::move(state)));
}

DatasetSummary MergeInspect(const std::vector<PartState>& parts) {
  const std::vector<const InspectState*> states = CompleteParts(parts, PartJob::kInspect);
  const InspectPlan plan = ReadInspectPlan(*states.front());
  InspectedCases joined;
  for (const InspectState* state : states) AddInspected(plan, *state, &joined);
  const CaseOrder order(*states.front());
  order.Sort([](const InspectedCase& c) { return c.summary.id; }, &joined.cases);
  order.SortLines(&joined.skipped);
  DatasetSummary summary = FinishInspection(plan, std::move(joined));
  if (std::string warning = TargetWarning(states); !warning.empty())
    summary.warnings.push_back(std::move(warning));
  return summary;
}

}  // namespace segcal
