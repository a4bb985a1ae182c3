// SPDX-License-Identifier: Apache-2.0
#include "methods/affine_calibrator.h"

namespace segcal {
namespace {

ParameterCounts Counts(int64_t c) {
  return {.optimised = c * c * (c + 1), .identifiable = c * (c * c - 1)};
}

constexpr AffineFamily kFamily{
    .name = "cdc",
    .space = AffineSpace::kLogProbs,
    .per_decision = true,
    .diagonal = false,
    .properties = {.translation_invariant = true, .preserves = Preserves::kNone},
    .counts = &Counts};

}  // namespace

// One dc per argmax class of the input (A3).
extern constinit const CalibratorInfo kConditionalDirichlet{
    .name = kFamily.name,
    .summary = "One affine map of the log-probabilities per winning class.",
    .reference = "Kirscher26",
    .page = "conditional_dirichlet",
    .default_options = &DefaultOptions<AffineOptions>,
    .make = &MakeAffine<kFamily>,
    .search = SearchBy::kFolds};

}  // namespace segcal
