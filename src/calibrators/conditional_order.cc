// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_calibrator.h"
#include "methods/shared/calibrator_info.h"

namespace segcal {
namespace {

ParameterCounts CountOrderParameters(int64_t c) {
  return {.optimised = c * (c * c + 1), .identifiable = c * c * (c - 1)};
}

constexpr AffineFamily kOrderFamily{
    .name = "cms_op",
    .space = AffineSpace::kSortedGaps,
    .per_decision = true,
    .diagonal = false,
    .properties = {.translation_invariant = true, .preserves = Preserves::kOrder},
    .counts = &CountOrderParameters};

}  // namespace

// Gaps between neighbours in sorted order, d' = A d + beta with A, beta >= 0 (A3).
extern constinit const CalibratorInfo kConditionalOrder{
    .name = kOrderFamily.name,
    .summary = "One affine map per winning class that keeps the order.",
    .reference = "Kirscher26",
    .page = "conditional_order",
    .default_options = &DefaultOptions<AffineOptions>,
    .make = &MakeAffine<kOrderFamily>,
    .search = SearchBy::kFolds};

}  // namespace segcal
