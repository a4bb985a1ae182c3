// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_calibrator.h"
#include "methods/shared/calibrator_info.h"

namespace segcal {
namespace {

ParameterCounts CountDirichletParameters(int64_t c) {
  return {.optimised = c * (c + 1), .identifiable = c * c - 1};
}

constexpr AffineFamily kDirichletFamily{
    .name = "dc",
    .space = AffineSpace::kLogProbs,
    .per_decision = false,
    .diagonal = false,
    .properties = {.translation_invariant = true, .preserves = Preserves::kNone},
    .counts = &CountDirichletParameters};

}  // namespace

// q = softmax(W log softmax(z) + b) (A1).
extern constinit const CalibratorInfo kDirichlet{
    .name = kDirichletFamily.name,
    .summary = "An affine map of the log-probabilities.",
    .reference = "Kull19",
    .page = "dirichlet",
    .default_options = &DefaultOptions<AffineOptions>,
    .make = &MakeAffine<kDirichletFamily>,
    .search = SearchBy::kFolds};

}  // namespace segcal
