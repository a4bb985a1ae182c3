// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_calibrator.h"
#include "methods/shared/calibrator_info.h"

namespace segcal {
namespace {

// A shift of all biases changes nothing.
ParameterCounts CountVectorParameters(int64_t c) {
  return {.optimised = 2 * c, .identifiable = 2 * c - 1};
}

constexpr AffineFamily kVectorFamily{
    .name = "vs",
    .space = AffineSpace::kRaw,
    .per_decision = false,
    .diagonal = true,
    .properties = {.translation_invariant = false, .preserves = Preserves::kNone},
    .counts = &CountVectorParameters};

}  // namespace

// q = softmax(a z + b), a and b per class (A1).
extern constinit const CalibratorInfo kVector{
    .name = kVectorFamily.name,
    .summary = "Scales and shifts every logit on its own.",
    .reference = "Guo17",
    .page = "vector_scaling",
    .default_options = &DefaultOptions<AffineOptions>,
    .make = &MakeAffine<kVectorFamily>,
    .search = SearchBy::kFolds};

}  // namespace segcal
