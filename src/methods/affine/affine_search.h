// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "methods/affine/affine_problem.h"

namespace segcal {

// The end of what is searched of each.
inline constexpr double kLargestPenalty = 1e-1;

// Chooses lambda, mu and kappa by the mean loss on the context's folds: context.trials trials, the
// given penalty first, each started from the best maps so far. Trials whose losses differ by no
// more than what they are known to tie: of those the given penalty is taken, else the one that
// holds the map most. Leaves it in `penalty`, and in `parameters` maps to start the fit from: those
// of the lowest loss, or where folds are held out of the given penalty.
SearchReport SearchPenalty(const AffineShape& shape,
                           AffineProblem* problem,
                           const FitContext& context,
                           Penalty* penalty,
                           ExpertParameters* parameters);

}  // namespace segcal
