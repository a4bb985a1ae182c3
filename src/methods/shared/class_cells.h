// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "methods/shared/calibrator.h"
#include "methods/shared/prob_cells.h"

namespace segcal {

// Counts of all pairs (p_c, [y = c]) of the labelled voxels, p = softmax(z), one pass: for every
// class apart, or for all of them together (one entry). `cells` bounds the cells of all entries.
std::vector<ProbCells> CountProbs(const FitContext& context,
                                  bool per_class,
                                  int64_t cells,
                                  const std::string& stage);

}  // namespace segcal
