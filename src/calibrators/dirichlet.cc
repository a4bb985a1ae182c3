// SPDX-License-Identifier: Apache-2.0
#include "methods/affine_calibrator.h"

namespace segcal {
namespace {

ParameterCounts Counts(int64_t c) { return {.optimised = c * (c + 1), .identifiable = c * c - 1}; }

constexpr AffineFamily kFamily{
    .name = "dc",
    .space = AffineSpace::kLogProbs,
    .per_decision = false,
    .diagonal = false,
    .properties = {.translation_invariant = true, .preserves = Preserves::kNone},
    .counts = &Counts};

}  // namespace

// q = softmax(W log softmax(z) + b) (A1).
extern constinit const CalibratorInfo kDirichlet{
    .name = kFamily.name,
    .summary = "An affine map of the log-probabilities.",
    .reference = "Kull19",
    .page = "dirichlet",
    .default_options = &DefaultOptions<AffineOptions>,
    .make = &MakeAffine<kFamily>,
    .search = SearchBy::kFolds};

}  // namespace segcal
