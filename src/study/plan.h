// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "segcal/compare.h"
#include "segcal/evaluate.h"
#include "segcal/model.h"
#include "study/partition.h"

namespace segcal {

// What a study is going to do, checked before its first unit.
struct StudyPlan {
  std::vector<std::string> pipelines = {};  // baselines first
  std::vector<PipelinePair> pairs = {};     // of these pipelines
  std::vector<double> split = {};           // as in StudyProtocol
  std::vector<Partition> partitions = {};
  EvaluateOptions on_test = {};
  EvaluateOptions on_validation = {};  // the scores that a choice can go by
  // The whole ensemble, or as many members as a part of the study looks at.
  int64_t num_members = 0;
};
StudyPlan MakePlan(const Dataset& dataset, const CompareOptions& options);

// Whether a pipeline has parameters to fit.
bool NeedsFit(const std::string& pipeline);

// What a study says of a pipeline, by a model of it.
StudyPipeline Describe(const Model& model, const std::string& pipeline);

// Trials of a search where no cases are set aside to choose by.
inline constexpr int64_t kStudyTrials = 20;

}  // namespace segcal
