// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_calibrator.h"
#include "methods/shared/calibrator_info.h"

namespace segcal {
namespace {

ParameterCounts CountArgmaxParameters(int64_t c) {
  return {.optimised = c * (c * c + 1), .identifiable = c * c * (c - 1)};
}

constexpr AffineFamily kArgmaxFamily{
    .name = "cms_ap",
    .space = AffineSpace::kWinnerGaps,
    .per_decision = true,
    .diagonal = false,
    .properties = {.translation_invariant = true, .preserves = Preserves::kArgmax},
    .counts = &CountArgmaxParameters};

}  // namespace

// Gaps below the winner, d' = A d + beta with A, beta >= 0 (A3).
extern constinit const CalibratorInfo kConditionalArgmax{
    .name = kArgmaxFamily.name,
    .summary = "One affine map per winning class that keeps the winner.",
    .reference = "Kirscher26",
    .page = "conditional_argmax",
    .default_options = &DefaultOptions<AffineOptions>,
    .make = &MakeAffine<kArgmaxFamily>,
    .search = SearchBy::kFolds};

}  // namespace segcal
