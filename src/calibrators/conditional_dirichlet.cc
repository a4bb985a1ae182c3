// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_calibrator.h"
#include "methods/shared/calibrator_info.h"

namespace segcal {
namespace {

ParameterCounts CountConditionalDirichletParameters(int64_t c) {
  return {.optimised = c * c * (c + 1), .identifiable = c * (c * c - 1)};
}

constexpr AffineFamily kConditionalDirichletFamily{
    .name = "cdc",
    .space = AffineSpace::kLogProbs,
    .per_decision = true,
    .diagonal = false,
    .properties = {.translation_invariant = true, .preserves = Preserves::kNone},
    .counts = &CountConditionalDirichletParameters};

}  // namespace

// One dc per argmax class of the input (A3).
extern constinit const CalibratorInfo kConditionalDirichlet{
    .name = kConditionalDirichletFamily.name,
    .summary = "One affine map of the log-probabilities per winning class.",
    .reference = "Kirscher26",
    .page = "conditional_dirichlet",
    .default_options = &DefaultOptions<AffineOptions>,
    .make = &MakeAffine<kConditionalDirichletFamily>,
    .search = SearchBy::kFolds};

}  // namespace segcal
