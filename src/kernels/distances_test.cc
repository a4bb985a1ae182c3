// SPDX-License-Identifier: Apache-2.0
#include "kernels/distances.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/rng.h"
#include "kernels/dispatch.h"

namespace segcal {
namespace {

TEST(DistanceTile, IsTheSquareRootOnEveryTarget) {
  constexpr int32_t kUnknown = std::numeric_limits<int32_t>::max();
  int32_t squared[kTileVoxels];
  Rng rng(1, 0);
  for (int32_t& x : squared) x = static_cast<int32_t>(rng.Below(kUnknown));
  squared[3] = 0;
  squared[5] = kUnknown;
  squared[6] = kUnknown - 1;
  const std::string before = ActiveTarget();
  for (const std::string& target : SupportedTargets()) {
    PinTarget(target);
    alignas(64) double distance[kTileVoxels];
    DistanceTile(squared, 15.0, distance);
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      const double root = std::sqrt(static_cast<double>(squared[v]));
      EXPECT_EQ(distance[v], squared[v] == kUnknown ? 15.0 : root) << target << v;
    }
  }
  PinTarget(before);
}

}  // namespace
}  // namespace segcal
