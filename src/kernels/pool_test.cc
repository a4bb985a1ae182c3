// SPDX-License-Identifier: Apache-2.0
#include "kernels/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/pooling_for_test.h"
#include "kernels/reference_for_test.h"
#include "kernels/tiles_for_test.h"

namespace segcal {
namespace {

constexpr InputKind kInputs[] = {InputKind::kLogits, InputKind::kLogProbs, InputKind::kProbs};
constexpr PoolRule kRules[] = {PoolRule::kMeanLogits, PoolRule::kMeanProbs};

void ExpectMatchesReference(const Pooled& pooled,
                            std::span<const MemberRows> members,
                            int64_t num_classes,
                            int64_t count,
                            const PoolOptions& options) {
  ASSERT_EQ(pooled.status.fault, PoolFault::kNone);
  for (int64_t v = 0; v < count; ++v) {
    const reference::PooledVoxel exact = reference::Pool(members, num_classes, v, options);
    ASSERT_EQ(pooled.decision[v], exact.decision) << "voxel " << v;
    ASSERT_NEAR(pooled.offset[v], exact.offset, 1e-13 * (1.0 + std::fabs(exact.offset)));
    for (int64_t c = 0; c < num_classes; ++c) {
      const double u = exact.logits[static_cast<size_t>(c)];
      ASSERT_NEAR(static_cast<double>(pooled.logits[c * kTileVoxels + v]),
                  u,
                  0x1p-24 * std::fabs(u) + 1e-13);
    }
  }
  for (int64_t v = count; v < kTileVoxels; ++v) {
    ASSERT_EQ(pooled.offset[v], 0.0);
    ASSERT_EQ(pooled.decision[v], 0);
    for (int64_t c = 0; c < num_classes; ++c) ASSERT_EQ(pooled.logits[c * kTileVoxels + v], 0.0f);
  }
}

TEST(PoolTile, AgreesWithReferenceForAllInputsRulesTypesAndLayouts) {
  ForEveryTarget([](const std::string& target) {
    for (const InputKind input : kInputs) {
      for (const PoolRule rule : kRules) {
        for (const int64_t num_members : {1, 3}) {
          for (const int64_t num_classes : {1, 2, 19, 200}) {
            const int64_t count = num_classes == 2 ? kTileVoxels : 3 + num_classes;
            for (const bool last : {false, true}) {
              SCOPED_TRACE(target + " classes " + std::to_string(num_classes));
              std::vector<Member> data;
              std::vector<MemberRows> members;
              constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kF64};
              for (int64_t m = 0; m < num_members; ++m) {
                const uint64_t seed = static_cast<uint64_t>(m + 10);
                data.emplace_back(ValuesFor(input, seed, num_classes, count),
                                  num_classes,
                                  count,
                                  kTypes[m],
                                  last);
              }
              for (const Member& member : data) members.push_back(member.rows);
              const PoolOptions options = OptionsFor(input, rule);
              ExpectMatchesReference(Pooled(members, num_classes, count, options),
                                     members,
                                     num_classes,
                                     count,
                                     options);
            }
          }
        }
      }
    }
  });
}

// The float path (one float16 or float32 member, voxels side by side) against the double path.
TEST(PoolTile, GivesTheSameBitsForEveryTypeAndLayout) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t count : {1, 31, 255, 256}) {
      constexpr int64_t kClasses = 11;
      std::vector<double> values = CoarseLogits(3, kClasses * count);
      values[0] = -INFINITY;
      values[values.size() / 2] = -60000.0;
      const Member f32(values, kClasses, count, DType::kF32, false);
      const Pooled expected({&f32.rows, 1}, kClasses, count, {});
      for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64}) {
        for (const bool last : {false, true}) {
          const Member member(values, kClasses, count, dtype, last);
          EXPECT_TRUE(Pooled({&member.rows, 1}, kClasses, count, {}) == expected)
              << target << " " << Name(dtype) << " last " << last << " count " << count;
        }
      }
    }
  });
}

// A bfloat16 is the upper half of a float: both paths must see that float.
TEST(PoolTile, GivesTheBitsOfTheSameFloatsForBFloats) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t count : {1, 31, 255, 256}) {
      constexpr int64_t kClasses = 11;
      std::vector<double> values = CoarseLogits(4, kClasses * count);
      values[0] = -INFINITY;
      values[values.size() / 2] = -3e38;
      // CoarseLogits has more bits than a bfloat16.
      for (double& value : values)
        value = static_cast<double>(BFloatFromFloat(static_cast<float>(value)));
      const Member f32(values, kClasses, count, DType::kF32, false);
      const Pooled expected({&f32.rows, 1}, kClasses, count, {});
      for (const bool last : {false, true}) {
        const Member member(values, kClasses, count, DType::kBF16, last);
        EXPECT_TRUE(Pooled({&member.rows, 1}, kClasses, count, {}) == expected)
            << target << " last " << last << " count " << count;
      }
    }
  });
}

// Full-precision floats: the difference of two floats is rounded once, in float as through double.
TEST(PoolTile, FloatPathRoundsLikeTheDoublePath) {
  ForEveryTarget([](const std::string& target) {
    constexpr int64_t kClasses = 23;
    Rng rng(5, 5);
    std::vector<double> values(kClasses * kTileVoxels);
    for (double& x : values) {
      const double size = std::pow(10.0, std::round(12.0 * rng.Uniform() - 8.0));
      x = static_cast<double>(static_cast<float>(size * rng.Normal()));
    }
    const Member side_by_side(values, kClasses, kTileVoxels, DType::kF32, false);
    const Member strided(values, kClasses, kTileVoxels, DType::kF32, true);
    EXPECT_TRUE(Pooled({&side_by_side.rows, 1}, kClasses, kTileVoxels, {}) ==
                Pooled({&strided.rows, 1}, kClasses, kTileVoxels, {}))
        << target;
  });
}

// Equal zeros of both signs: the decision is the lower class and the offset plain zero.
TEST(PoolTile, OffsetOfNegativeZeroIsPlainZero) {
  ForEveryTarget([](const std::string& target) {
    for (const bool last : {false, true}) {
      const Member member({-0.0, 0.0, -1.0, 0.0, -0.0, -1.0}, 3, 2, DType::kF32, last);
      const Pooled pooled({&member.rows, 1}, 3, 2, {});
      EXPECT_FALSE(std::signbit(pooled.offset[0])) << target;
      EXPECT_FALSE(std::signbit(pooled.offset[1])) << target;
      EXPECT_EQ(pooled.decision[0], 0) << target;
    }
  });
}

TEST(PoolTile, KeepsHugeLogitsAndImpossibleClasses) {
  ForEveryTarget([](const std::string& target) {
    for (const bool last : {false, true}) {
      // Per voxel: (1e30, -1e30, -inf), (-inf, -inf, 5), (-1e30, -1e30, -1e30).
      const std::vector<double> values = {
          1e30, -INFINITY, -1e30, -1e30, -INFINITY, -1e30, -INFINITY, 5.0, -1e30};
      const Member member(values, 3, 3, DType::kF32, last);
      const Pooled pooled({&member.rows, 1}, 3, 3, {});
      ASSERT_EQ(pooled.status.fault, PoolFault::kNone) << target;
      const float expected[3][3] = {
          {0.0f, -87.0f, -87.0f}, {-87.0f, -87.0f, 0.0f}, {0.0f, 0.0f, 0.0f}};
      for (int64_t v = 0; v < 3; ++v) {
        for (int64_t c = 0; c < 3; ++c) {
          EXPECT_EQ(pooled.logits[c * kTileVoxels + v], expected[v][c]) << target << " " << v << c;
        }
      }
      EXPECT_EQ(pooled.decision[1], 2) << target;
      EXPECT_EQ(pooled.offset[1], 5.0) << target;
    }
  });
}

// The float path looks for NaN in the sum of the classes, which is infinity less infinity here.
TEST(PoolTile, FiniteValuesWhoseSumOverflowsAreNoFault) {
  ForEveryTarget([](const std::string& target) {
    const Member member({3e38, 3e38, -INFINITY}, 3, 1, DType::kF32, false);
    const Pooled pooled({&member.rows, 1}, 3, 1, {});
    ASSERT_EQ(pooled.status.fault, PoolFault::kNone) << target;
    EXPECT_EQ(pooled.decision[0], 0) << target;
    EXPECT_EQ(pooled.logits[kTileVoxels], 0.0f) << target;
    EXPECT_EQ(pooled.logits[2 * kTileVoxels], -87.0f) << target;
  });
}

// Adding a constant to all logits of a member leaves the pooled probabilities alone.
TEST(PoolTile, IsInvariantToShiftsOfMembers) {
  constexpr int64_t kClasses = 6;
  const std::vector<double> a = CoarseLogits(1, kClasses * kTileVoxels);
  const std::vector<double> b = CoarseLogits(2, kClasses * kTileVoxels);
  std::vector<double> shifted = b;
  for (double& x : shifted) x += 1024.0;
  const Member ma(a, kClasses, kTileVoxels, DType::kF64, false);
  const Member mb(b, kClasses, kTileVoxels, DType::kF64, false);
  const Member ms(shifted, kClasses, kTileVoxels, DType::kF64, false);
  for (const PoolRule rule : kRules) {
    const PoolOptions options = OptionsFor(InputKind::kLogits, rule);
    const Pooled plain(std::vector<MemberRows>{ma.rows, mb.rows}, kClasses, kTileVoxels, options);
    const Pooled moved(std::vector<MemberRows>{ma.rows, ms.rows}, kClasses, kTileVoxels, options);
    for (int64_t i = 0; i < kClasses * kTileVoxels; ++i)
      ASSERT_EQ(plain.logits[i], moved.logits[i]);
  }
}

TEST(PoolTile, CountsRenormalisedRows) {
  ForEveryTarget([](const std::string& target) {
    // Sums 1, 1.0005, 1.01, 0.99.
    const Member member({0.5, 0.5, 0.5, 0.5, 0.5, 0.5005, 0.51, 0.49}, 2, 4, DType::kF64, false);
    const Pooled pooled(
        {&member.rows, 1}, 2, 4, OptionsFor(InputKind::kProbs, PoolRule::kMeanProbs));
    EXPECT_EQ(pooled.status.fault, PoolFault::kNone) << target;
    EXPECT_EQ(pooled.status.renormalised, 2) << target;
    EXPECT_NEAR(pooled.offset[2], std::log(0.51 / 1.01), 1e-15) << target;
  });
}

// Two probabilities apart in double may share one float32 logarithm; the decision is taken before.
TEST(PoolTile, DecisionSeesWhatRoundingMerges) {
  ForEveryTarget([](const std::string& target) {
    const Member member({0.36, 0.36 + 1e-11, 0.28 - 1e-11}, 3, 1, DType::kF64, false);
    const Pooled pooled(
        {&member.rows, 1}, 3, 1, OptionsFor(InputKind::kProbs, PoolRule::kMeanProbs));
    EXPECT_EQ(pooled.decision[0], 1) << target;
    EXPECT_NEAR(pooled.logits[0], 0.0f, 1e-10f) << target;
  });
}

TEST(PoolTile, ProbabilitiesHaveAnAbsoluteFloor) {
  ForEveryTarget([](const std::string& target) {
    const Member member({0.75, 1e-12, 0.25 - 1e-12}, 3, 1, DType::kF64, false);
    for (const PoolRule rule : kRules) {
      const Pooled pooled({&member.rows, 1}, 3, 1, OptionsFor(InputKind::kProbs, rule));
      const double floored = static_cast<double>(pooled.logits[kTileVoxels]) + pooled.offset[0];
      EXPECT_NEAR(floored, kProbFloor, 2e-6) << target;
    }
  });
}

}  // namespace
}  // namespace segcal
