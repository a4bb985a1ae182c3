// SPDX-License-Identifier: Apache-2.0
#include "kernels/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/half.h"
#include "kernels/reference.h"
#include "kernels/test_tiles.h"

namespace segcal {
namespace {

const double kProbFloor = std::log(1e-8);

struct Pooled {
  AlignedArray<float> logits;
  AlignedArray<double> offset;
  AlignedArray<uint16_t> decision;
  PoolStatus status;

  Pooled(std::span<const MemberRows> members,
         int64_t num_classes,
         int64_t count,
         const PoolOptions& options)
      : logits(num_classes * kTileVoxels), offset(kTileVoxels), decision(kTileVoxels) {
    AlignedArray<std::byte> scratch(PoolScratchBytes(num_classes));
    // Whatever was in the buffers must not matter.
    std::fill_n(logits.data(), logits.size(), 123.0f);
    std::fill_n(decision.data(), kTileVoxels, uint16_t{999});
    std::fill_n(offset.data(), kTileVoxels, -7.0);
    const PoolOutput out{logits.data(), offset.data(), decision.data()};
    status = PoolTile(members, num_classes, count, options, scratch.data(), out);
  }

  bool operator==(const Pooled& other) const {
    return std::equal(logits.data(), logits.data() + logits.size(), other.logits.data()) &&
           std::equal(offset.data(), offset.data() + kTileVoxels, other.offset.data()) &&
           std::equal(decision.data(), decision.data() + kTileVoxels, other.decision.data());
  }
};

// A member's values in some type and layout; exactly `count` voxels are allocated, so that reading
// past them is caught by the address sanitizer.
struct Member {
  std::vector<uint16_t> halves;
  std::vector<float> floats;
  std::vector<double> doubles;
  MemberRows rows;

  Member(const std::vector<double>& values,
         int64_t num_classes,
         int64_t count,
         DType dtype,
         bool last) {
    rows = {.data = nullptr,
            .dtype = dtype,
            .class_stride = last ? 1 : count,
            .voxel_stride = last ? num_classes : 1};
    halves.resize(values.size());
    floats.resize(values.size());
    doubles.resize(values.size());
    for (int64_t c = 0; c < num_classes; ++c) {
      for (int64_t v = 0; v < count; ++v) {
        const auto i = static_cast<size_t>(c * rows.class_stride + v * rows.voxel_stride);
        doubles[i] = values[static_cast<size_t>(c * count + v)];
        floats[i] = static_cast<float>(doubles[i]);
        halves[i] = HalfFromFloat(floats[i]);
      }
    }
    if (dtype == DType::kF16) rows.data = halves.data();
    if (dtype == DType::kF32) rows.data = floats.data();
    if (dtype == DType::kF64) rows.data = doubles.data();
  }
};

// Multiples of 2^-6 below 32: the same number in float16, float32 and float64.
std::vector<double> CoarseLogits(uint64_t seed, int64_t size) {
  Rng rng(seed, 1);
  std::vector<double> values(static_cast<size_t>(size));
  for (double& x : values) x = std::round(512.0 * (rng.Uniform() - 0.5)) / 64.0;
  return values;
}

// Rows summing to one up to float16 rounding, some entries 0.
std::vector<double> CoarseProbs(uint64_t seed, int64_t num_classes, int64_t count) {
  Rng rng(seed, 2);
  std::vector<double> values(static_cast<size_t>(num_classes * count));
  for (int64_t v = 0; v < count; ++v) {
    std::vector<double> row(static_cast<size_t>(num_classes));
    double sum = 0.0;
    for (double& p : row) sum += p = rng.Uniform() < 0.2 ? 0.0 : rng.Uniform();
    if (sum == 0.0) sum = row[0] = 1.0;
    for (int64_t c = 0; c < num_classes; ++c) {
      const float p = static_cast<float>(row[static_cast<size_t>(c)] / sum);
      values[static_cast<size_t>(c * count + v)] =
          static_cast<double>(FloatFromHalf(HalfFromFloat(p)));
    }
  }
  return values;
}

std::vector<double> ValuesFor(InputKind input, uint64_t seed, int64_t num_classes, int64_t count) {
  if (input == InputKind::kProbs) return CoarseProbs(seed, num_classes, count);
  std::vector<double> values = CoarseLogits(seed, num_classes * count);
  if (input == InputKind::kLogProbs) {
    for (double& x : values) x -= 4.0;
  }
  return values;
}

PoolOptions OptionsFor(InputKind input, PoolRule rule) {
  return {.input = input, .rule = rule, .floor = input == InputKind::kProbs ? kProbFloor : -87.0};
}

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
              << target << " " << NameOf(dtype) << " last " << last << " count " << count;
        }
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

struct FaultCase {
  const char* name;
  InputKind input;
  PoolRule rule;
  std::vector<double> bad;  // one voxel of three classes
  PoolFault fault;
};

const std::vector<FaultCase>& FaultCases() {
  static const std::vector<FaultCase> cases = {
      {"nan", InputKind::kLogits, PoolRule::kMeanLogits, {1, NAN, 2}, PoolFault::kNotANumber},
      {"+inf", InputKind::kLogits, PoolRule::kMeanLogits, {1, INFINITY, 2}, PoolFault::kNotANumber},
      {"nan p", InputKind::kLogits, PoolRule::kMeanProbs, {NAN, 1, 2}, PoolFault::kNotANumber},
      {"impossible",
       InputKind::kLogits,
       PoolRule::kMeanLogits,
       {-INFINITY, -INFINITY, -INFINITY},
       PoolFault::kNoPossibleClass},
      {"impossible p",
       InputKind::kLogits,
       PoolRule::kMeanProbs,
       {-INFINITY, -INFINITY, -INFINITY},
       PoolFault::kNoPossibleClass},
      {"logits as log p",
       InputKind::kLogProbs,
       PoolRule::kMeanLogits,
       {-3, 0.01, -5},
       PoolFault::kPositiveLogProb},
      {"negative",
       InputKind::kProbs,
       PoolRule::kMeanProbs,
       {0.6, -0.1, 0.5},
       PoolFault::kNegativeProb},
      {"nan prob",
       InputKind::kProbs,
       PoolRule::kMeanProbs,
       {0.6, NAN, 0.5},
       PoolFault::kNotANumber},
      {"inf prob",
       InputKind::kProbs,
       PoolRule::kMeanLogits,
       {0.6, INFINITY, 0},
       PoolFault::kNotANumber},
      {"sigmoid", InputKind::kProbs, PoolRule::kMeanLogits, {0.9, 0.8, 0.1}, PoolFault::kSumNotOne},
      {"no probability",
       InputKind::kProbs,
       PoolRule::kMeanProbs,
       {0, 0, 0},
       PoolFault::kNoPossibleClass},
  };
  return cases;
}

TEST(PoolTile, NamesTheFirstFaultyVoxelAndItsMember) {
  ForEveryTarget([](const std::string& target) {
    for (const FaultCase& fault : FaultCases()) {
      for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64}) {
        for (const int64_t count : {100, 256}) {
          for (const size_t num_members : {1, 2}) {
            std::vector<double> good = ValuesFor(fault.input, 4, 3, count);
            std::vector<double> values = good;
            for (int64_t c = 0; c < 3; ++c) {
              for (const int64_t v : {77, 99}) {
                values[static_cast<size_t>(c * count + v)] = fault.bad[static_cast<size_t>(c)];
              }
            }
            const Member clean(good, 3, count, DType::kF32, false);
            const Member bad(values, 3, count, dtype, false);
            std::vector<MemberRows> members = {clean.rows, bad.rows};
            if (num_members == 1) members.erase(members.begin());
            const Pooled pooled(members, 3, count, OptionsFor(fault.input, fault.rule));
            EXPECT_EQ(pooled.status.fault, fault.fault) << target << " " << fault.name;
            EXPECT_EQ(pooled.status.voxel, 77) << target << " " << fault.name;
            EXPECT_EQ(pooled.status.member, static_cast<int64_t>(num_members) - 1) << fault.name;
          }
        }
      }
    }
  });
}

TEST(PoolTile, MembersThatExcludeEachOthersClassesLeaveNoMeanOfLogits) {
  ForEveryTarget([](const std::string& target) {
    const Member a({1.0, -INFINITY}, 2, 1, DType::kF32, false);
    const Member b({-INFINITY, 2.0}, 2, 1, DType::kF32, false);
    const std::vector<MemberRows> members = {a.rows, b.rows};
    EXPECT_EQ(Pooled(members, 2, 1, {}).status.fault, PoolFault::kNoPossibleClass) << target;
    const Pooled mixed(members, 2, 1, OptionsFor(InputKind::kLogits, PoolRule::kMeanProbs));
    EXPECT_EQ(mixed.status.fault, PoolFault::kNone) << target;
    EXPECT_EQ(mixed.logits[kTileVoxels], 0.0f) << target;
  });
}

}  // namespace
}  // namespace segcal
