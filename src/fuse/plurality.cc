// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "fuse/method.h"

namespace segcal {
namespace {

void WeighEqually(std::span<const double>, const FuseOptions&, std::span<double> weights) noexcept {
  std::fill(weights.begin(), weights.end(), 1.0);
}

}  // namespace

extern constinit const FusionInfo kPlurality{
    .name = "plurality", .summary = "The label with the most votes.", .weigh = &WeighEqually};

extern constinit const FusionInfo kMajority{
    .name = "majority",
    .summary = "The label with at least half of the votes, else background.",
    .weigh = &WeighEqually,
    .needs_half = true};

}  // namespace segcal
