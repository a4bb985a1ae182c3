// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "fuse/method.h"

namespace segcal {
namespace {

// The weight of a candidate is the probability that it is right (FU2).
void WeighByReliability(std::span<const double> reliability,
                        const FuseOptions&,
                        std::span<double> weights) noexcept {
  std::copy(reliability.begin(), reliability.end(), weights.begin());
}

}  // namespace

extern constinit const FusionInfo kWeightedVoting{
    .name = "svwv",
    .summary = "Spatially varying weighted voting: every vote counts by its reliability.",
    .weigh = &WeighByReliability};

}  // namespace segcal
