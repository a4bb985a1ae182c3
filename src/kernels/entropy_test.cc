// SPDX-License-Identifier: Apache-2.0
#include "kernels/entropy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/reference_for_test.h"
#include "kernels/tiles_for_test.h"

namespace segcal {
namespace {

// The bound stated in entropy.h.
void ExpectEntropies(const RandomTile& random, const std::string& trace) {
  AlignedArray<double> entropy(kTileVoxels);
  EntropyTile(random.tile, entropy.data());
  const auto classes = static_cast<double>(random.tile.num_classes);
  const double tolerance = (classes + 20) * 0x1p-24;
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    const double exact = reference::Entropy(random.tile, v);
    ASSERT_NEAR(entropy[v], exact, tolerance * exact + classes * 2e-36) << trace << " voxel " << v;
    ASSERT_GE(entropy[v], 0.0) << trace;
  }
}

TEST(EntropyTile, AgreesWithReferenceOverClassesAndSpreads) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : {1, 2, 3, 7, 19, 33, 200}) {
      for (const double spread : {0.0, 0.5, 6.0, 30.0, 87.0}) {
        ExpectEntropies(
            RandomTile(41, num_classes, 251, spread),
            target + " C " + std::to_string(num_classes) + " spread " + std::to_string(spread));
      }
    }
  });
}

// Closed form: u = (0, -d): H = log(1 + e^-d) + d e^-d / (1 + e^-d), 1e-30 where p rounds to 1.
TEST(EntropyTile, KeepsSmallEntropiesOfSaturatedVoxels) {
  ForEveryTarget([](const std::string& target) {
    RandomTile random(1, 2, 3, 1.0);
    const double gaps[] = {20.0, 50.0, 75.0};
    for (int64_t v = 0; v < 3; ++v) {
      random.logits[v] = 0.0f;
      random.logits[kTileVoxels + v] = static_cast<float>(-gaps[v]);
    }
    AlignedArray<double> entropy(kTileVoxels);
    EntropyTile(random.tile, entropy.data());
    for (int64_t v = 0; v < 3; ++v) {
      const double e = std::exp(-gaps[v]);
      EXPECT_NEAR(entropy[v] / (std::log1p(e) + gaps[v] * e / (1.0 + e)), 1.0, 1e-6) << target;
    }
  });
}

}  // namespace
}  // namespace segcal
