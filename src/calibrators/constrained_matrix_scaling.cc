// SPDX-License-Identifier: Apache-2.0
#include "methods/affine_calibrator.h"

namespace segcal {
namespace {

ParameterCounts Counts(int64_t c) { return {.optimised = c * c + 1, .identifiable = c * (c - 1)}; }

constexpr AffineFamily kFamily{
    .name = "ms_c",
    .space = AffineSpace::kDifferences,
    .per_decision = false,
    .diagonal = false,
    .properties = {.translation_invariant = true, .preserves = Preserves::kNone},
    .counts = &Counts};

}  // namespace

// q = softmax(W z + b) with equal row sums of W: an affine map of differences of logits (A2).
extern constinit const CalibratorInfo kConstrainedMatrix{
    .name = kFamily.name,
    .summary = "An affine map of the logits whose rows have equal sums.",
    .reference = "Kirscher26",
    .page = "constrained_matrix_scaling",
    .default_options = &DefaultOptions<AffineOptions>,
    .make = &MakeAffine<kFamily>,
    .search = SearchBy::kFolds};

}  // namespace segcal
