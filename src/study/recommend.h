// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segcal/compare.h"

namespace segcal {

// A difference that tables, with four decimals, do not show should not decide, nor be warned of.
inline constexpr double kInvisible = 0.5e-4;

// An unknown score is an Error.
void CheckScore(const std::string& score);

// The choice by the validation cases of all repeats, with its reasons: of the pipelines that
// satisfy the options, the one with the fewest identifiable parameters whose score is within one
// standard error of the best (docs/compare.md). `num_members`: of the ensemble.
Recommendation Recommend(const std::vector<StudyPipeline>& pipelines,
                         const std::vector<const EvaluateResult*>& chosen_by,
                         int64_t num_members,
                         const RecommendOptions& options);

// Adds what the rest of a study says for and against its recommendation.
void JudgeRecommendation(Study* study);

}  // namespace segcal
