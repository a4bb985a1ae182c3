// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_calibrator.h"
#include "methods/shared/calibrator_info.h"

namespace segcal {
namespace {

ParameterCounts CountMatrixParameters(int64_t c) {
  return {.optimised = c * (c + 1), .identifiable = c * c - 1};
}

constexpr AffineFamily kMatrixFamily{
    .name = "ms",
    .space = AffineSpace::kRaw,
    .per_decision = false,
    .diagonal = false,
    .properties = {.translation_invariant = false, .preserves = Preserves::kNone},
    .counts = &CountMatrixParameters};

}  // namespace

// q = softmax(W z + b) (A1).
extern constinit const CalibratorInfo kMatrix{.name = kMatrixFamily.name,
                                              .summary = "An affine map of the logits.",
                                              .reference = "Guo17",
                                              .page = "matrix_scaling",
                                              .default_options = &DefaultOptions<AffineOptions>,
                                              .make = &MakeAffine<kMatrixFamily>,
                                              .search = SearchBy::kFolds};

}  // namespace segcal
