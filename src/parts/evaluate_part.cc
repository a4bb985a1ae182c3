// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "core/progress.h"
#include "core/throw.h"
#include "parts/part_state.h"
#include "pipeline/evaluate.h"
#include "results/evaluate_json.h"
#include "results/properties_json.h"

namespace segcal {
namespace {

using EvaluateState = PartState::State;

std::string DescribeOptions(const EvaluateOptions& options) {
  std::string text = fmt::format("{}\n{}\n{} {}",
                                 options.split,
                                 fmt::join(options.families, ","),
                                 options.keep_cells,
                                 options.run.skip_bad);
  for (const auto& [family, values] : options.metrics) {
    for (const auto& [key, value] : values) text += fmt::format("\n{}.{}={}", family, key, value);
  }
  return text;
}

Json PlanToJson(const EvaluatePlan& plan, const EvaluateOptions& options) {
  return {{"dataset", plan.dataset},
          {"split", plan.split},
          {"classes", plan.classes},
          {"background", plan.background},
          {"grouped", plan.grouped},
          {"families", options.families},
          {"metrics", options.metrics},
          {"pipelines", JsonItems(plan.pipelines, [](const EvaluatePlan::Pipeline& pipeline) {
             return Json{{"pipeline", pipeline.name},
                         {"properties", PropertiesToJson(pipeline.properties)},
                         {"warning", pipeline.warning}};
           })}};
}

EvaluatePlan::Pipeline ReadPipelinePlan(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  EvaluatePlan::Pipeline pipeline;
  pipeline.name = object.String("pipeline");
  pipeline.properties = ReadProperties(object.Object("properties"), where + ": properties");
  pipeline.warning = object.String("warning");
  object.Finish();
  return pipeline;
}

// {"family": {"key": "value"}}.
EvaluateOptions ReadMetricOptions(JsonObject* plan) {
  EvaluateOptions options;
  options.families = plan->Strings("families");
  const Json& metrics = plan->Object("metrics");
  for (const auto& [family, values] : metrics.items()) {
    JsonObject object(values, plan->where() + ": metrics: " + family);
    for (const auto& [key, value] : values.items())
      options.metrics[family][key] = object.String(key);
  }
  return options;
}

EvaluatePlan ReadPlan(const EvaluateState& state) {
  JsonObject object(state.plan, state.where + ": plan");
  EvaluatePlan plan;
  plan.dataset = object.String("dataset");
  plan.split = object.String("split");
  plan.classes = object.Strings("classes");
  plan.background = object.Integer("background");
  plan.grouped = object.Bool("grouped");
  plan.selection = SelectMetrics(ReadMetricOptions(&object));
  plan.pipelines = object.Items("pipelines", ReadPipelinePlan);
  object.Finish();
  if (plan.pipelines.empty() || plan.classes.empty() || plan.background < -1 ||
      plan.background >= std::ssize(plan.classes)) {
    Throw(ErrorCode::kBadData,
          "{}: {} pipelines, {} classes, background {}",
          state.where,
          plan.pipelines.size(),
          plan.classes.size(),
          plan.background);
  }
  return plan;
}

Json EvaluatedCaseToJson(const EvaluatedCase& c) {
  return {
      {"id", c.id}, {"labelled", c.labelled}, {"constant", c.constant}, {"known_to", c.known_to}};
}

Json EvaluatedToJson(const EvaluatedCases& done) {
  return {{"voxels", done.voxels},
          {"labelled", done.labelled},
          {"renormalised", done.renormalised},
          {"largest_case", done.largest_case},
          {"memory", done.memory},
          {"unlabelled", done.unlabelled},
          {"unreadable", done.unreadable},
          {"cases", JsonItems(done.cases, EvaluatedCaseToJson)},
          {"pipelines", JsonItems(done.pipelines, [](const EvaluatedPipeline& pipeline) {
             return Json{{"cases", JsonItems(pipeline.cases, CaseMetricsToJson)},
                         {"groups", JsonItems(pipeline.groups, GroupMetricsToJson)}};
           })}};
}

// Tables and means go by place.
void CheckMetrics(const std::vector<MetricValue>& found,
                  const std::vector<MetricValue>& expected,
                  const std::string& where) {
  const auto same = [](const MetricValue& a, const MetricValue& b) {
    return a.name == b.name && a.per_class.size() == b.per_class.size();
  };
  if (std::equal(found.begin(), found.end(), expected.begin(), expected.end(), same)) return;
  Throw(ErrorCode::kBadData, "{}: metrics that are not those of the plan", where);
}

EvaluatedPipeline ReadPipelineCases(const EvaluatePlan& plan,
                                    const Json& json,
                                    const std::string& where,
                                    const std::string& sums) {
  JsonObject object(json, where);
  EvaluatedPipeline pipeline{.cases = object.Items("cases", ReadCaseMetrics),
                             .groups = object.Items("groups", ReadGroupMetrics),
                             .pooled = Accumulators(plan.context(), plan.selection)};
  object.Finish();
  const std::vector<MetricValue> expected = pipeline.pooled.Finish();
  for (const CaseMetrics& c : pipeline.cases) CheckMetrics(c.metrics, expected, where);
  for (const GroupMetrics& group : pipeline.groups) {
    CheckMetrics(group.mean, expected, where);
    CheckMetrics(group.pooled, expected, where);
  }
  UnpackAllSums(sums, &pipeline.pooled);
  return pipeline;
}

EvaluatedCase ReadEvaluatedCase(const EvaluatePlan& plan,
                                const Json& json,
                                const std::string& where) {
  JsonObject object(json, where);
  EvaluatedCase c;
  c.id = object.String("id");
  c.labelled = object.Integer("labelled");
  c.constant = object.Integers("constant");
  c.known_to = object.Integers("known_to");
  object.Finish();
  for (const int64_t m : c.known_to) {
    if (m >= 0 && m < std::ssize(plan.pipelines)) continue;
    Throw(ErrorCode::kBadData, "{}: pipeline {} of {}", where, m, plan.pipelines.size());
  }
  return c;
}

// All pipelines have the same cases in the same order.
void CheckCases(const EvaluatedCases& done, const std::string& where) {
  for (const EvaluatedPipeline& pipeline : done.pipelines) {
    const bool same = std::equal(pipeline.cases.begin(),
                                 pipeline.cases.end(),
                                 done.cases.begin(),
                                 done.cases.end(),
                                 [](const auto& a, const auto& b) { return a.id == b.id; });
    if (!same) Throw(ErrorCode::kBadData, "{}: pipelines of different cases", where);
  }
}

EvaluatedCases ReadEvaluated(const EvaluatePlan& plan, const EvaluateState& state) {
  const std::string where = state.where + ": done";
  JsonObject object(state.done, where);
  EvaluatedCases done;
  done.voxels = object.Integer("voxels");
  done.labelled = object.Integer("labelled");
  done.renormalised = object.Integer("renormalised");
  done.largest_case = object.Integer("largest_case");
  done.memory = object.Integer("memory");
  done.unlabelled = object.Strings("unlabelled");
  done.unreadable = object.Strings("unreadable");
  done.cases = object.Items("cases", [&](const Json& item, const std::string& at) {
    return ReadEvaluatedCase(plan, item, at);
  });
  const Json& pipelines = object.Array("pipelines");
  object.Finish();
  if (pipelines.size() != plan.pipelines.size() || state.sums.size() != plan.pipelines.size()) {
    Throw(ErrorCode::kBadData,
          "{}: {} pipelines and sums of {}, the plan has {}",
          where,
          pipelines.size(),
          state.sums.size(),
          plan.pipelines.size());
  }
  for (size_t m = 0; m < plan.pipelines.size(); ++m)
    done.pipelines.push_back(ReadPipelineCases(plan, pipelines[m], where, state.sums[m]));
  CheckCases(done, where);
  return done;
}

template <class Item>
void Append(std::vector<Item>&& more, std::vector<Item>* items) {
  std::move(more.begin(), more.end(), std::back_inserter(*items));
}

// The first case of every group, in the order that GroupMetrics are in.
std::vector<std::string> FirstCases(const std::vector<CaseMetrics>& cases) {
  std::vector<std::string> first;
  std::set<std::string> known;
  for (const CaseMetrics& c : cases) {
    if (c.group.empty() || known.insert(c.group).second) first.push_back(c.id);
  }
  return first;
}

struct PlacedGroup {
  std::string first_case;
  GroupMetrics metrics;
};

// Cases of all parts, in the order that they came.
class EvaluatedParts {
 public:
  explicit EvaluatedParts(const EvaluatePlan& plan)
      : joined_(NothingEvaluated(plan)), groups_(plan.pipelines.size()) {}

  void Add(EvaluatedCases part, const std::string& where) {
    // Of parts without cases nothing was held.
    if (part.largest_case > 0 && (joined_.memory == 0 || part.memory < joined_.memory))
      joined_.memory = part.memory;
    joined_.largest_case = std::max(joined_.largest_case, part.largest_case);
    joined_.voxels += part.voxels;
    joined_.labelled += part.labelled;
    joined_.renormalised += part.renormalised;
    Append(std::move(part.cases), &joined_.cases);
    Append(std::move(part.unlabelled), &joined_.unlabelled);
    Append(std::move(part.unreadable), &joined_.unreadable);
    for (size_t m = 0; m < groups_.size(); ++m) AddPipeline(m, &part.pipelines[m], where);
  }

  // In the order of the job.
  EvaluatedCases Take(const CaseOrder& order) {
    order.Sort([](const EvaluatedCase& c) { return c.id; }, &joined_.cases);
    order.SortLines(&joined_.unlabelled);
    order.SortLines(&joined_.unreadable);
    for (size_t m = 0; m < groups_.size(); ++m) {
      order.Sort([](const CaseMetrics& c) { return c.id; }, &joined_.pipelines[m].cases);
      order.Sort([](const PlacedGroup& group) { return group.first_case; }, &groups_[m]);
      for (PlacedGroup& group : groups_[m])
        joined_.pipelines[m].groups.push_back(std::move(group.metrics));
    }
    return std::move(joined_);
  }

 private:
  void AddPipeline(size_t m, EvaluatedPipeline* part, const std::string& where) {
    EvaluatedPipeline& whole = joined_.pipelines[m];
    whole.pooled.Merge(part->pooled);
    const std::vector<std::string> first = FirstCases(part->cases);
    if (!part->groups.empty() && part->groups.size() != first.size()) {
      Throw(ErrorCode::kBadData,
            "{}: {} groups, its cases have {}",
            where,
            part->groups.size(),
            first.size());
    }
    for (size_t g = 0; g < part->groups.size(); ++g)
      groups_[m].push_back({first[g], std::move(part->groups[g])});
    Append(std::move(part->cases), &whole.cases);
  }

  EvaluatedCases joined_;
  std::vector<std::vector<PlacedGroup>> groups_;  // of every pipeline
};

}  // namespace

PartState EvaluatePart(const Dataset& dataset,
                       const std::vector<Model>& models,
                       const EvaluateOptions& options,
                       const Part& part) {
  const ProgressScope scope(options.run.progress);
  const Dataset cases = CasesToEvaluate(dataset, models, options);
  const EvaluatePlan plan = PlanEvaluation(cases, models, options);
  const std::string described = DescribeOptions(options);
  EvaluateState state =
      StartState(IdentifyJob(PartJob::kEvaluate, cases, models, described, part), cases, part);
  const EvaluatedCases done = EvaluateCases(plan, SelectPart(cases, part), models, options);
  state.plan = PlanToJson(plan, options);
  state.done = EvaluatedToJson(done);
  state.num_done = std::ssize(done.cases);
  state.skipped = done.unlabelled;
  state.skipped.insert(state.skipped.end(), done.unreadable.begin(), done.unreadable.end());
  for (const EvaluatedPipeline& pipeline : done.pipelines)
    state.sums.push_back(PackedSums(pipeline.pooled));
  return PartState(std::make_shared<const EvaluateState>(std::move(state)));
}

EvaluateResult MergeEvaluate(const std::vector<PartState>& parts) {
  const std::vector<const EvaluateState*> states = CompleteParts(parts, PartJob::kEvaluate);
  const EvaluatePlan plan = ReadPlan(*states.front());
  EvaluatedParts joined(plan);
  for (const EvaluateState* state : states) joined.Add(ReadEvaluated(plan, *state), state->where);
  EvaluateResult result = FinishEvaluation(plan, joined.Take(CaseOrder(*states.front())));
  if (std::string warning = TargetWarning(states); !warning.empty())
    result.warnings.push_back(std::move(warning));
  return result;
}

}  // namespace segcal
