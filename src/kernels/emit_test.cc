// SPDX-License-Identifier: Apache-2.0
#include "kernels/emit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/half.h"
#include "kernels/reference_for_test.h"
#include "kernels/scores.h"
#include "kernels/softmax.h"
#include "kernels/tiles_for_test.h"

namespace segcal {
namespace {

constexpr int64_t kEmitClassCounts[] = {1, 2, 3, 20, 150};

// Probabilities whose winner is often tied or a little behind.
AlignedArray<float> NearTies(const RandomTile& random, int64_t num_classes) {
  AlignedArray<float> probs(num_classes * kTileVoxels);
  AlignedArray<float> log_label(kTileVoxels);
  SoftmaxTile(random.tile, 1.0, {probs.data(), log_label.data()});
  Rng rng(3, 3);
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    const int64_t winner = random.decision[v];
    const int64_t rival = (winner + 1) % num_classes;
    float& q = probs[rival * kTileVoxels + v];
    q = probs[winner * kTileVoxels + v];
    for (int64_t steps = rng.Below(5) - 2; steps > 0; --steps) q = std::nextafter(q, 1.0f);
  }
  return probs;
}

std::vector<float> Column(const AlignedArray<float>& probs, int64_t num_classes, int64_t v) {
  std::vector<float> column;
  for (int64_t c = 0; c < num_classes; ++c) column.push_back(probs[c * kTileVoxels + v]);
  return column;
}

TEST(KeepWinner, AgreesWithReferenceOnTies) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : kEmitClassCounts) {
      const RandomTile random(2, num_classes, kTileVoxels, 3.0);
      AlignedArray<float> probs = NearTies(random, num_classes);
      const AlignedArray<float> before = NearTies(random, num_classes);
      KeepWinner(random.decision.data(), num_classes, probs.data());
      for (int64_t v = 0; v < kTileVoxels; ++v) {
        std::vector<float> expected = Column(before, num_classes, v);
        reference::KeepWinner(random.decision[v], expected);
        ASSERT_EQ(Column(probs, num_classes, v), expected) << target << " C " << num_classes;
      }
    }
  });
}

TEST(KeepWinner, MakesTheDecisionStrictlyLargest) {
  ForEveryTarget([](const std::string& target) {
    constexpr int64_t kClasses = 3;
    AlignedArray<float> probs(kClasses * kTileVoxels);
    AlignedArray<uint16_t> decision(kTileVoxels);
    // Rivals of every size, subnormal ones and zero included.
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      decision[v] = static_cast<uint16_t>(v % kClasses);
      const float rival = v == 0 ? 0.0f : std::ldexp(1.0f, -static_cast<int>(v % 150));
      probs[(v + 1) % kClasses * kTileVoxels + v] = rival;
      probs[(v + 2) % kClasses * kTileVoxels + v] = rival;
    }
    KeepWinner(decision.data(), kClasses, probs.data());
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      const float own = probs[decision[v] * kTileVoxels + v];
      ASSERT_GT(own, probs[(v + 1) % kClasses * kTileVoxels + v]) << target << " " << v;
    }
  });
}

TEST(KeepWinner, TellsTheWinningProbability) {
  for (const int64_t num_classes : {1, 2, 5}) {
    AlignedArray<float> probs(num_classes * kTileVoxels);
    AlignedArray<uint16_t> decision(kTileVoxels);
    for (int64_t i = 0; i < num_classes * kTileVoxels; ++i) probs[i] = 0.25f;
    for (int64_t v = 0; v < kTileVoxels; ++v) decision[v] = static_cast<uint16_t>(num_classes - 1);
    probs[3] = 0.5f;  // of class 0, which wins only where it is alone
    AlignedArray<float> winning(kTileVoxels);
    KeepWinner(decision.data(), num_classes, probs.data(), winning.data());
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      EXPECT_EQ(winning[v], probs[(num_classes - 1) * kTileVoxels + v]);
      for (int64_t c = 0; c + 1 < num_classes; ++c)
        EXPECT_LT(probs[c * kTileVoxels + v], winning[v]);
    }
  }
}

TEST(KeepWinner, LeavesClearWinnersAlone) {
  RandomTile random(2, 5, kTileVoxels, 3.0);
  AlignedArray<float> probs(5 * kTileVoxels);
  AlignedArray<float> log_label(kTileVoxels);
  SoftmaxTile(random.tile, 1.0, {probs.data(), log_label.data()});
  AlignedArray<float> kept(5 * kTileVoxels);
  std::copy_n(probs.data(), probs.size(), kept.data());
  KeepWinner(random.decision.data(), 5, kept.data());
  for (int64_t i = 0; i < probs.size(); ++i) ASSERT_EQ(kept[i], probs[i]);
}

TEST(RoundToHalf, AgreesWithReference) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : kEmitClassCounts) {
      const RandomTile random(6, num_classes, kTileVoxels, 30.0);
      const AlignedArray<float> probs = NearTies(random, num_classes);
      AlignedArray<uint16_t> halves(num_classes * kTileVoxels);
      for (const bool keep : {true, false}) {
        RoundToHalf(probs.data(), random.decision.data(), keep, num_classes, halves.data());
        for (int64_t v = 0; v < kTileVoxels; ++v) {
          std::vector<uint16_t> expected(static_cast<size_t>(num_classes));
          reference::RoundToHalf(random.decision[v], keep, Column(probs, num_classes, v), expected);
          for (int64_t c = 0; c < num_classes; ++c) {
            ASSERT_EQ(halves[c * kTileVoxels + v], expected[static_cast<size_t>(c)])
                << target << " " << probs[c * kTileVoxels + v];
          }
        }
      }
    }
  });
}

// Every half in [0, 1], the midpoints between neighbours and the floats next to those.
TEST(RoundToHalf, RoundsToNearestEvenEverywhere) {
  ForEveryTarget([](const std::string& target) {
    AlignedArray<float> probs(kTileVoxels);
    AlignedArray<uint16_t> decision(kTileVoxels);
    AlignedArray<uint16_t> halves(kTileVoxels);
    std::vector<float> values;
    for (uint16_t bits = 0; bits <= 0x3C00; ++bits) {
      const float half = FloatFromHalf(bits);
      const float middle = 0.5f * (half + FloatFromHalf(static_cast<uint16_t>(bits + 1)));
      values.insert(values.end(),
                    {half, std::nextafter(middle, 0.0f), middle, std::nextafter(middle, 2.0f)});
    }
    for (size_t first = 0; first < values.size(); first += kTileVoxels) {
      const size_t n = std::min<size_t>(kTileVoxels, values.size() - first);
      std::copy_n(values.data() + first, n, probs.data());
      RoundToHalf(probs.data(), decision.data(), false, 1, halves.data());
      for (size_t i = 0; i < n; ++i) {
        ASSERT_EQ(halves[static_cast<int64_t>(i)], HalfFromFloat(values[first + i]))
            << target << " " << values[first + i];
      }
    }
  });
}

TEST(RoundToHalf, RowSumsStayWithinTheStatedBound) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : kEmitClassCounts) {
      const RandomTile random(6, num_classes, kTileVoxels, 5.0);
      AlignedArray<float> probs(num_classes * kTileVoxels);
      AlignedArray<float> log_label(kTileVoxels);
      AlignedArray<uint16_t> halves(num_classes * kTileVoxels);
      for (const double beta : {0.0, 0.2, 1.0}) {
        SoftmaxTile(random.tile, beta, {probs.data(), log_label.data()});
        RoundToHalf(probs.data(), random.decision.data(), true, num_classes, halves.data());
        for (int64_t v = 0; v < kTileVoxels; ++v) {
          double sum = 0.0;
          for (int64_t c = 0; c < num_classes; ++c) {
            sum += static_cast<double>(FloatFromHalf(halves[c * kTileVoxels + v]));
          }
          ASSERT_LE(std::fabs(sum - 1.0), 0x1p-9) << target << " C " << num_classes;
        }
      }
    }
  });
}

TEST(StreamRows, CopiesTheVoxelsAndNothingElse) {
  ForEveryTarget([](const std::string& target) {
    constexpr int64_t kClasses = 3;
    AlignedArray<float> rows(kClasses * kTileVoxels);
    for (int64_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i + 1);
    for (const int64_t count : {1, 100, 256}) {
      for (const int64_t shift : {0, 3}) {
        for (const int64_t stride : {320, 333}) {
          AlignedArray<float> out(kClasses * stride + shift);
          StreamRows(rows.data(), kClasses, count, stride, out.data() + shift);
          for (int64_t i = 0; i < out.size(); ++i) {
            const int64_t c = (i - shift) / stride;
            const int64_t v = i - shift - c * stride;
            const bool written = i >= shift && c < kClasses && v < count;
            ASSERT_EQ(out[i], written ? rows[c * kTileVoxels + v] : 0.0f) << target << " " << i;
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace segcal
