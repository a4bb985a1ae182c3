// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/accumulators.h"
#include "segcal/evaluate.h"

namespace segcal {

// Evaluation in steps, so that its cases may be spread over parts of a job: what is done with every
// case, the cases themselves, and the result, which does not depend on how they were spread.

// What is done with every case, and what the result says of all of them.
struct EvaluatePlan {
  struct Pipeline {
    std::string name;
    Properties properties;
    std::string warning;  // about the size of the ensemble; empty: none
  };

  std::string dataset;
  std::string split;
  std::vector<std::string> classes;
  int64_t background = -1;
  bool grouped = false;  // whether a case names a group
  std::vector<Pipeline> pipelines;
  MetricSelection selection;

  MetricContext context() const {
    return {.num_classes = std::ssize(classes), .background = background};
  }
  // What metrics that need every voxel of a case keep of each until the case is complete.
  int64_t bytes_per_voxel() const;
};

// What is known of a case beside its metrics.
struct EvaluatedCase {
  std::string id;
  int64_t labelled = 0;
  std::vector<int64_t> constant;  // members that predict the same at every voxel
  std::vector<int64_t> known_to;  // pipelines that were fitted on it, by their place
};

struct EvaluatedPipeline {
  std::vector<CaseMetrics> cases;    // in the order of EvaluatedCases::cases
  std::vector<GroupMetrics> groups;  // in the order of their first cases
  Accumulators pooled;               // sums over all of them
};

// Cases, of whole groups, that were evaluated, and those that were left out.
struct EvaluatedCases {
  std::vector<EvaluatedCase> cases;
  std::vector<EvaluatedPipeline> pipelines;
  std::vector<std::string> unlabelled;  // "case: why"
  std::vector<std::string> unreadable;
  int64_t voxels = 0;
  int64_t labelled = 0;
  int64_t renormalised = 0;
  int64_t largest_case = 0;  // in voxels
  int64_t memory = 0;        // that there was
};
EvaluatedCases NothingEvaluated(const EvaluatePlan& plan);

// The cases that the options select, after a check of everything that can be told before the work.
Dataset CasesToEvaluate(const Dataset& dataset,
                        const std::vector<Model>& models,
                        const EvaluateOptions& options);
// Of all cases of the evaluation.
EvaluatePlan PlanEvaluation(const Dataset& cases,
                            const std::vector<Model>& models,
                            const EvaluateOptions& options);
// Of all or some of them.
EvaluatedCases EvaluateCases(const EvaluatePlan& plan,
                             const Dataset& cases,
                             const std::vector<Model>& models,
                             const EvaluateOptions& options);
// Of all of them, in the order of the data set; none is an Error.
EvaluateResult FinishEvaluation(const EvaluatePlan& plan, EvaluatedCases done);

}  // namespace segcal
