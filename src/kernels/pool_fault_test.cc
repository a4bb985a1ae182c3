// SPDX-License-Identifier: Apache-2.0
// What PoolTile refuses, and how it names the place.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/pool.h"
#include "kernels/pooling_for_test.h"
#include "kernels/tiles_for_test.h"

namespace segcal {
namespace {

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
      for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
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
