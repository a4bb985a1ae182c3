// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "methods/affine/expert_batch.h"

namespace segcal {

// From the rows of a map to scores by position, and its transpose; rows are gaps where the space
// says so, else scores already.

// Scores by position from rows that are gaps: minus the (cumulated) gaps. Sorted classes with equal
// logits keep equal scores: which of them comes first says nothing (A3).
void ScoresFromGaps(const ExpertBatch& batch, const float* rows, float* scores) noexcept;
void ScoresFromGaps(const ExpertBatch& batch, const double* rows, double* scores) noexcept;

// The transpose: residuals by position to residuals of rows, in place of the first num_rows rows.
void RowsFromScores(const ExpertBatch& batch, float* residual) noexcept;
void RowsFromScores(const ExpertBatch& batch, double* residual) noexcept;

// Sets a row of values to 0 at voxels where its gap does not count for such a tie.
void ZeroTies(const ExpertBatch& batch, int64_t row, float* values) noexcept;

}  // namespace segcal
