// SPDX-License-Identifier: Apache-2.0
#include "kernels/softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/reference_for_test.h"
#include "kernels/tiles_for_test.h"

namespace segcal {
namespace {

constexpr int64_t kSoftmaxClassCounts[] = {1, 2, 3, 7, 19, 20, 33, 200};
constexpr double kBetas[] = {0.0, 0.3, 1.0, 1.7, 40.0, 1e6};

// The bound stated in softmax.h; x = beta u.
double ProbTolerance(int64_t num_classes, double exact, double x) {
  const double units = 0.25 * static_cast<double>(num_classes) + 6.0 + 2.0 * std::fabs(x);
  return units * 0x1p-24 * exact + 0x1p-125;
}

struct Output {
  AlignedArray<float> probs;
  AlignedArray<float> log_label;
  explicit Output(int64_t num_classes) : probs(num_classes * kTileVoxels), log_label(kTileVoxels) {}
  TileProbs view() { return {probs.data(), log_label.data()}; }
};

TEST(SoftmaxTile, AgreesWithReferenceForAllClassCountsAndTemperatures) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : kSoftmaxClassCounts) {
      const RandomTile random(7, num_classes, 250, 30.0);
      Output out(num_classes);
      for (const double beta : kBetas) {
        SoftmaxTile(random.tile, beta, out.view());
        for (int64_t v = 0; v < kTileVoxels; ++v) {
          const std::vector<double> exact = reference::Softmax(random.tile, beta, v);
          for (int64_t c = 0; c < num_classes; ++c) {
            const double x = beta * static_cast<double>(random.logits[c * kTileVoxels + v]);
            ASSERT_NEAR(static_cast<double>(out.probs[c * kTileVoxels + v]),
                        exact[c],
                        ProbTolerance(num_classes, exact[c], x))
                << target << " C " << num_classes << " beta " << beta << " class " << c;
          }
        }
      }
    }
  });
}

// A temperature per voxel, from one that saturates to one that flattens.
AlignedArray<float> SpreadTemperatures() {
  AlignedArray<float> temperature(kTileVoxels);
  for (int64_t v = 0; v < kTileVoxels; ++v)
    temperature[v] =
        std::ldexp(1.0f + 0.003f * static_cast<float>(v), static_cast<int>(v % 30) - 10);
  return temperature;
}

TEST(LocalSoftmaxTile, AgreesWithReferenceAtEveryTemperature) {
  ForEveryTarget([](const std::string& target) {
    const AlignedArray<float> temperature = SpreadTemperatures();
    for (const int64_t num_classes : kSoftmaxClassCounts) {
      const RandomTile random(7, num_classes, 250, 87.0);
      Output out(num_classes);
      LocalSoftmaxTile(random.tile, temperature.data(), out.view());
      for (int64_t v = 0; v < kTileVoxels; ++v) {
        const double beta = 1.0 / static_cast<double>(temperature[v]);
        const std::vector<double> exact = reference::Softmax(random.tile, beta, v);
        for (int64_t c = 0; c < num_classes; ++c) {
          const double x = beta * static_cast<double>(random.logits[c * kTileVoxels + v]);
          ASSERT_NEAR(static_cast<double>(out.probs[c * kTileVoxels + v]),
                      exact[c],
                      ProbTolerance(num_classes, exact[c], x))
              << target << " C " << num_classes << " voxel " << v << " class " << c;
        }
        if (random.labels[v] == kNoLabel) {
          ASSERT_EQ(out.log_label[v], 0.0f);
          continue;
        }
        const double log_label = reference::LogSoftmax(random.tile, beta, random.labels[v], v);
        const double units = 0.25 * static_cast<double>(num_classes) + 6.0;
        ASSERT_NEAR(
            out.log_label[v], log_label, units * 0x1p-24 + 3.0 * std::fabs(log_label) * 0x1p-24)
            << target << " voxel " << v;
      }
    }
  });
}

TEST(LocalSoftmaxTile, KeepsTheOrderOfTheLogits) {
  ForEveryTarget([](const std::string& target) {
    const AlignedArray<float> temperature = SpreadTemperatures();
    RandomTile random(9, 3, kTileVoxels, 30.0);
    // A winner, and two neighbours in float32 below it.
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      random.logits[v] = 0.0f;
      random.logits[2 * kTileVoxels + v] = std::nextafter(random.logits[kTileVoxels + v], -100.0f);
    }
    Output out(3);
    LocalSoftmaxTile(random.tile, temperature.data(), out.view());
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      ASSERT_GE(out.probs[v], out.probs[kTileVoxels + v]) << target << " voxel " << v;
      ASSERT_GE(out.probs[kTileVoxels + v], out.probs[2 * kTileVoxels + v]) << target;
    }
  });
}

TEST(SoftmaxTile, RowSumsAreOneWithinTheStatedBound) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : kSoftmaxClassCounts) {
      const RandomTile random(3, num_classes, kTileVoxels, 8.0);
      Output out(num_classes);
      for (const double beta : kBetas) {
        SoftmaxTile(random.tile, beta, out.view());
        for (int64_t v = 0; v < kTileVoxels; ++v) {
          double sum = 0.0;
          for (int64_t c = 0; c < num_classes; ++c) {
            sum += static_cast<double>(out.probs[c * kTileVoxels + v]);
          }
          ASSERT_LE(std::fabs(sum - 1.0), static_cast<double>(num_classes + 8) * 0x1p-24) << target;
        }
      }
    }
  });
}

// Neighbouring floats are where rounding could swap two classes.
TEST(SoftmaxTile, NeverInvertsTheOrderOfNeighbouringLogits) {
  ForEveryTarget([](const std::string& target) {
    constexpr int64_t kClasses = 200;
    RandomTile random(5, kClasses, kTileVoxels, 20.0);
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      float z = random.logits[kTileVoxels + v];
      for (int64_t c = 0; c < kClasses; ++c) {
        random.logits[c * kTileVoxels + v] = c == 0 ? 0.0f : z;
        z = std::nextafter(z, -100.0f);
      }
    }
    Output out(kClasses);
    for (const double beta : {0.1, 0.7, 1.0 / 3.0, 1.0, 1.3, 2.9}) {
      SoftmaxTile(random.tile, beta, out.view());
      for (int64_t i = 2 * kTileVoxels; i < kClasses * kTileVoxels; ++i) {
        ASSERT_LE(out.probs[i], out.probs[i - kTileVoxels]) << target << " beta " << beta;
      }
    }
  });
}

TEST(SoftmaxTile, LogOfTheLabelAgreesWithReference) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : kSoftmaxClassCounts) {
      const RandomTile random(11, num_classes, 200, 30.0);
      Output out(num_classes);
      for (const double beta : {0.0, 0.3, 1.0, 40.0}) {
        SoftmaxTile(random.tile, beta, out.view());
        for (int64_t v = 0; v < kTileVoxels; ++v) {
          const int64_t label = random.labels[v];
          const double exact =
              label == kNoLabel ? 0.0 : reference::LogSoftmax(random.tile, beta, label, v);
          const double tolerance = (0.25 * static_cast<double>(num_classes) + 6.0) * 0x1p-24 +
                                   3 * 0x1p-24 * std::fabs(exact);
          ASSERT_NEAR(static_cast<double>(out.log_label[v]), exact, tolerance) << target;
        }
      }
    }
  });
}

TEST(LogSoftmaxTile, AgreesWithReference) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : kSoftmaxClassCounts) {
      const RandomTile random(13, num_classes, kTileVoxels, 30.0);
      AlignedArray<float> log_probs(num_classes * kTileVoxels);
      for (const double beta : {0.0, 0.3, 1.0, 40.0}) {
        LogSoftmaxTile(random.tile, beta, log_probs.data());
        for (int64_t c = 0; c < num_classes; ++c) {
          for (int64_t v = 0; v < kTileVoxels; v += 17) {
            const double exact = reference::LogSoftmax(random.tile, beta, c, v);
            const double tolerance = (0.25 * static_cast<double>(num_classes) + 6.0) * 0x1p-24 +
                                     3 * 0x1p-24 * std::fabs(exact);
            ASSERT_NEAR(static_cast<double>(log_probs[c * kTileVoxels + v]), exact, tolerance)
                << target;
          }
        }
      }
    }
  });
}

TEST(FreeEnergyTile, AgreesWithReferenceTo1e11) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : kSoftmaxClassCounts) {
      const RandomTile random(17, num_classes, kTileVoxels, 87.0);
      AlignedArray<double> free_energy(kTileVoxels);
      FreeEnergyTile(random.tile, free_energy.data());
      for (int64_t v = 0; v < kTileVoxels; ++v) {
        ASSERT_NEAR(free_energy[v], reference::FreeEnergy(random.tile, v), 1e-11) << target;
      }
    }
  });
}

}  // namespace
}  // namespace segcal
