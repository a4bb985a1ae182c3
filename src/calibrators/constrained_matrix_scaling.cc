// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_calibrator.h"
#include "methods/shared/calibrator_info.h"

namespace segcal {
namespace {

ParameterCounts CountConstrainedParameters(int64_t c) {
  return {.optimised = c * c + 1, .identifiable = c * (c - 1)};
}

constexpr AffineFamily kConstrainedFamily{
    .name = "ms_c",
    .space = AffineSpace::kDifferences,
    .per_decision = false,
    .diagonal = false,
    .properties = {.translation_invariant = true, .preserves = Preserves::kNone},
    .counts = &CountConstrainedParameters};

}  // namespace

// q = softmax(W z + b) with equal row sums of W: an affine map of differences of logits (A2).
extern constinit const CalibratorInfo kConstrainedMatrix{
    .name = kConstrainedFamily.name,
    .summary = "An affine map of the logits whose rows have equal sums.",
    .reference = "Kirscher26",
    .page = "constrained_matrix_scaling",
    .default_options = &DefaultOptions<AffineOptions>,
    .make = &MakeAffine<kConstrainedFamily>,
    .search = SearchBy::kFolds};

}  // namespace segcal
