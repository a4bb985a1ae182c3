// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "metrics/tiles_for_test.h"

namespace segcal {
namespace {

using testing::Accumulate;
using testing::Value;
using testing::Voxel;

Voxel WithEnergy(double free_energy) {
  return {.probs = {1.0f}, .label = 0, .free_energy = free_energy};
}

std::vector<Voxel> RandomEnergies(double centre, double spread, int64_t count) {
  Rng rng(/*seed=*/6, 0);
  std::vector<Voxel> voxels;
  for (int64_t v = 0; v < count; ++v) voxels.push_back(WithEnergy(centre + spread * rng.Normal()));
  return voxels;
}

// Two passes in long double.
struct Moments {
  double mean = 0.0;
  double deviation = 0.0;
};
Moments PlainMoments(const std::vector<Voxel>& voxels) {
  const auto n = static_cast<long double>(voxels.size());
  long double mean = 0;
  for (const Voxel& voxel : voxels) mean += voxel.free_energy / n;
  long double squares = 0;
  for (const Voxel& voxel : voxels) {
    squares += (voxel.free_energy - mean) * (voxel.free_energy - mean);
  }
  return {static_cast<double>(mean), static_cast<double>(std::sqrt(squares / n))};
}

TEST(FreeEnergy, IsMeanAndPopulationDeviation) {
  const auto energy = Accumulate("free_energy",
                                 {WithEnergy(1.0),
                                  WithEnergy(-1.0),
                                  WithEnergy(3.0),
                                  WithEnergy(5.0),
                                  {.probs = {1.0f}, .free_energy = 1e30}});
  EXPECT_EQ(Value(*energy, "free_energy_mean"), 2.0);
  EXPECT_EQ(Value(*energy, "free_energy_std"), std::sqrt(5.0));
}

TEST(FreeEnergy, MatchesTwoPassesForAnyCentreAndSpread) {
  for (const double centre : {0.0, -3.25, 12.5, 1e4, -1e6}) {
    for (const double spread : {1e-6, 1e-3, 1.0, 50.0}) {
      const std::vector<Voxel> voxels = RandomEnergies(centre, spread, 1500);
      const auto energy = Accumulate("free_energy", voxels);
      const Moments plain = PlainMoments(voxels);
      // Half a step of 2^-40, and the last bit of the result.
      EXPECT_NEAR(
          Value(*energy, "free_energy_mean"), plain.mean, 5e-13 + 2e-16 * std::fabs(centre));
      EXPECT_NEAR(Value(*energy, "free_energy_std"), plain.deviation, 5e-13 + 1e-15 * spread)
          << centre << " +- " << spread;
    }
  }
}

// What E[F^2] - E[F]^2 in double makes of the same data: nothing right is left of it.
TEST(FreeEnergy, SpreadSurvivesALargeCommonOffset) {
  std::vector<Voxel> voxels;
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < 1000; ++i) {
    const double value = 1e5 + (i % 2 == 0 ? 0x1p-20 : -0x1p-20);
    voxels.push_back(WithEnergy(value));
    sum += value;
    squares += value * value;
  }
  EXPECT_EQ(Value(*Accumulate("free_energy", voxels), "free_energy_std"), 0x1p-20);
  const double naive = squares / 1000.0 - (sum / 1000.0) * (sum / 1000.0);
  EXPECT_GT(std::fabs(naive - 0x1p-40), 0.5 * 0x1p-40);
}

// The mean lies half way between two steps, where the rest of (F4) is largest.
TEST(FreeEnergy, SpreadOfASingleStepIsExact) {
  const auto energy = Accumulate("free_energy", {WithEnergy(1.0), WithEnergy(1.0 + 0x1p-40)});
  EXPECT_EQ(Value(*energy, "free_energy_mean"), 1.0 + 0x1p-41);
  EXPECT_EQ(Value(*energy, "free_energy_std"), 0x1p-41);
}

TEST(FreeEnergy, ConstantFieldHasNoSpread) {
  for (const double value : {0.1, -0.1, 1e6 / 3.0, -4e6, 0x1p22 - 1.0}) {
    const auto energy = Accumulate("free_energy", {300, WithEnergy(value)});
    EXPECT_NEAR(Value(*energy, "free_energy_mean"), value, 5e-13 + 2e-16 * std::fabs(value));
    EXPECT_EQ(Value(*energy, "free_energy_std"), 0.0) << value;
  }
}

// 2^39 voxels of the largest magnitudes, of both signs: sums of squares far past 128 bits.
TEST(FreeEnergy, SumsDoNotOverflowForManyLargeValues) {
  const double large = 0x1p22 - 0x1p-30;
  auto energy = Accumulate("free_energy", {WithEnergy(large), WithEnergy(-large)});
  testing::Double(energy.get(), 38);
  EXPECT_EQ(Value(*energy, "free_energy_mean"), 0.0);
  EXPECT_DOUBLE_EQ(Value(*energy, "free_energy_std"), large);
  auto shifted = Accumulate("free_energy", {WithEnergy(-large), WithEnergy(-large + 2.0)});
  testing::Double(shifted.get(), 38);
  EXPECT_EQ(Value(*shifted, "free_energy_mean"), -large + 1.0);
  EXPECT_EQ(Value(*shifted, "free_energy_std"), 1.0);
}

TEST(FreeEnergy, IsUndefinedOutsideTheStatedRange) {
  for (const double value : {1e30, -1e30, 0x1p22, std::nan(""), -HUGE_VAL}) {
    auto energy = Accumulate("free_energy", {WithEnergy(1.0), WithEnergy(value)});
    EXPECT_TRUE(std::isnan(Value(*energy, "free_energy_mean"))) << value;
    EXPECT_TRUE(std::isnan(Value(*energy, "free_energy_std"))) << value;
    auto merged = Accumulate("free_energy", {WithEnergy(1.0)});
    merged->Merge(*energy);
    EXPECT_TRUE(std::isnan(Value(*merged, "free_energy_mean"))) << value;
  }
}

}  // namespace
}  // namespace segcal
