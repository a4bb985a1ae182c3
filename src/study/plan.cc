// SPDX-License-Identifier: Apache-2.0
#include "study/plan.h"

#include <algorithm>
#include <optional>

#include "calibrators/list.h"
#include "core/throw.h"
#include "pipeline/spec.h"
#include "segcal/fit.h"
#include "segcal/methods.h"
#include "study/recommend.h"

namespace segcal {
namespace {

bool Contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// The same with the objective that the main paper's authors published: no shrinkage, their penalty.
// Absent for what has no such penalty.
std::optional<std::string> WithPaperObjective(const std::string& pipeline) {
  PipelineSpec spec = ParsePipeline(pipeline);
  const CalibratorInfo& info = FindCalibrator(spec.stages.back());
  if (!info.default_options().contains("penalty") || spec.options.contains("penalty"))
    return std::nullopt;
  spec.options["penalty"] = "paper";
  spec.options.emplace("kappa", "0");
  return FormatPipeline(spec);
}

std::vector<std::string> AndWithPaperObjective(std::vector<std::string> pipelines) {
  const std::vector<std::string> given = pipelines;
  for (const std::string& pipeline : given) {
    const std::optional<std::string> other = WithPaperObjective(pipeline);
    if (other && !Contains(pipelines, *other)) pipelines.push_back(*other);
  }
  return pipelines;
}

std::vector<std::string> PipelinesOf(const CompareOptions& options) {
  std::vector<std::string> names = {"none(z0)", "none(p)", "none(z)"};
  names.insert(names.end(), options.pipelines.begin(), options.pipelines.end());
  const std::vector<std::string> pipelines = ExpandPipelines(names);
  for (const std::string& pipeline : pipelines) {
    const PipelineSpec spec = ParsePipeline(pipeline);
    MakeCalibrator(spec.stages, spec.options);  // its options are checked
  }
  return options.paper_objective ? AndWithPaperObjective(pipelines) : pipelines;
}

std::vector<PipelinePair> PairsOf(const CompareOptions& options,
                                  const std::vector<std::string>& pipelines) {
  std::vector<PipelinePair> pairs;
  for (const PipelinePair& pair : PaperPairs()) {
    if (Contains(pipelines, pair.first) && Contains(pipelines, pair.second)) pairs.push_back(pair);
  }
  for (const std::string& pipeline : pipelines) {
    const std::optional<std::string> other =
        options.paper_objective ? WithPaperObjective(pipeline) : std::nullopt;
    if (other) pairs.push_back({pipeline, *other, "the main paper's objective"});
  }
  for (PipelinePair pair : options.pairs) {
    if (pair.family.empty()) pair.family = "asked for";
    for (std::string* name : {&pair.first, &pair.second}) {
      *name = FormatPipeline(ParsePipeline(*name));
      if (Contains(pipelines, *name)) continue;
      Throw(ErrorCode::kInvalidArgument,
            "pair {}={}: {} is none of the study's pipelines: {}",
            pair.first,
            pair.second,
            *name,
            fmt::join(pipelines, ", "));
    }
    pairs.push_back(pair);
  }
  return pairs;
}

// All but those that keep every probability of a case, and random patches.
std::vector<std::string> FamiliesOf(const CompareOptions& options) {
  if (!options.families.empty()) return options.families;
  std::vector<std::string> families = SelectedFamilies({});
  families.emplace_back("local");
  return families;
}

}  // namespace

bool NeedsFit(const std::string& pipeline) {
  return ParsePipeline(pipeline).stages != std::vector<std::string>{"none"};
}

StudyPipeline Describe(const Model& model, const std::string& pipeline) {
  return {.pipeline = pipeline,
          .properties = {.translation_invariant = model.translation_invariant(),
                         .preserves = model.preserves()},
          .parameters = model.parameter_counts(),
          .baseline = !NeedsFit(pipeline)};
}

std::vector<PipelinePair> PaperPairs() {
  const char* offsets = "translation invariance";
  const char* decisions = "decision preservation";
  const char* pooling = "pooling";
  return {{"ms(z)", "ms_c(z)", offsets},
          {"ms(z)", "dc(z)", offsets},
          {"lts_raw(z)", "lts(z)", offsets},
          {"cdc(p)", "cms_ap(p)", decisions},
          {"cdc(p)", "cms_op(p)", decisions},
          {"cdc(z)", "cms_ap(z)", decisions},
          {"cdc(z)", "cms_op(z)", decisions},
          {"ts(z)", "ts(p)", pooling},
          {"ets(z)", "ets(p)", pooling},
          {"dc(z)", "dc(p)", pooling}};
}

StudyPlan MakePlan(const Dataset& dataset, const CompareOptions& options) {
  CheckScore(options.recommend.score);
  StudyPlan plan;
  plan.pipelines = PipelinesOf(options);
  plan.pairs = PairsOf(options, plan.pipelines);
  plan.partitions = MakePartitions(dataset, options, &plan.split);
  plan.on_test.run = options.run;
  plan.on_test.run.progress = {};  // the study listens
  plan.on_test.families = FamiliesOf(options);
  plan.on_test.metrics = options.metrics;
  plan.on_validation.run = plan.on_test.run;
  plan.on_validation.families = {"nll", "ece", "ba_ece"};
  for (const EvaluateOptions* evaluation : {&plan.on_test, &plan.on_validation})
    SelectedFamilies(*evaluation);  // names and options are checked
  plan.num_members = static_cast<int64_t>(dataset.cases.front().members.size());
  return plan;
}

}  // namespace segcal
