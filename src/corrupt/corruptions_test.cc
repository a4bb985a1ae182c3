// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "corrupt/corruption.h"
#include "corrupt/planes_for_test.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

using testing::Corrupted;
using testing::EvenPlane;
using testing::ExpectError;
using testing::RandomPlane;

double Value(const Plane& plane, int64_t i) {
  return static_cast<double>(plane.values[static_cast<size_t>(i)]);
}

TEST(Corruptions, KeepTheSizeAndStayWithinBlackAndWhite) {
  for (const CorruptionInfo* info : Corruptions()) {
    for (const Severity severity : {Severity::kMild, Severity::kStrong}) {
      for (const int64_t channels : {1, 2, 3, 5}) {
        const Plane plane = Corrupted(info->name, severity, RandomPlane(9, 17, channels));
        ASSERT_EQ(plane.values.size(), static_cast<size_t>(9 * 17 * channels)) << info->name;
        for (const float value : plane.values) ASSERT_TRUE(value >= 0.0f && value <= 1.0f);
      }
    }
  }
}

TEST(Corruptions, StrongChangesMoreThanMild) {
  const Plane clean = RandomPlane(40, 60, 3);
  for (const CorruptionInfo* info : Corruptions()) {
    const auto change = [&](Severity severity) {
      const Plane plane = Corrupted(info->name, severity, clean);
      double sum = 0.0;
      for (int64_t i = 0; i < clean.size(); ++i)
        sum += std::fabs(Value(plane, i) - Value(clean, i));
      return sum;
    };
    EXPECT_GT(change(Severity::kMild), 0.0) << info->name;
    EXPECT_GT(change(Severity::kStrong), change(Severity::kMild)) << info->name;
  }
}

TEST(Corruptions, AnUnknownNameListsTheKnownOnes) {
  ExpectError(ErrorCode::kInvalidArgument, {"\"rain\"", "noise", "jpeg", "fog"}, [] {
    FindCorruption("rain");
  });
}

// Each type has the same chance: 10000 names, so that a share of 0.2 has a standard error of 0.004.
TEST(DrawCorruption, GivesEveryTypeToAFifthOfTheImages) {
  std::map<std::string, int64_t> counts;
  for (int i = 0; i < 10000; ++i)
    ++counts[DrawCorruption("image_" + std::to_string(i), {}).info->name];
  ASSERT_EQ(counts.size(), Corruptions().size());
  for (const auto& [name, count] : counts) EXPECT_NEAR(count, 2000, 160) << name;
}

TEST(DrawCorruption, FollowsFromNameAndSeedAndNotFromTheSeverity) {
  std::set<std::string> by_seed;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    CorruptOptions options;
    options.seed = seed;
    const ImageCorruption mild = DrawCorruption("a", options);
    options.severity = Severity::kStrong;
    const ImageCorruption strong = DrawCorruption("a", options);
    EXPECT_EQ(mild.info, strong.info);
    EXPECT_EQ(mild.noise.At(5), strong.noise.At(5));
    by_seed.insert(mild.info->name);
  }
  EXPECT_EQ(by_seed.size(), Corruptions().size());
}

// Half a million draws: the standard error of their mean is 1.4e-4, of their deviation 1e-4.
TEST(Noise, HasTheStatedDeviationAndNoMean) {
  const Plane plane = Corrupted("noise", Severity::kStrong, EvenPlane(500, 1000, 1, 0.5f));
  double sum = 0.0;
  double squares = 0.0;
  for (int64_t i = 0; i < plane.size(); ++i) {
    const double gap = Value(plane, i) - 0.5;
    sum += gap;
    squares += gap * gap;
  }
  const auto n = static_cast<double>(plane.size());
  EXPECT_NEAR(sum / n, 0.0, 6e-4);
  EXPECT_NEAR(std::sqrt(squares / n), 0.10, 6e-4);
}

// A slice of a volume gets the numbers of its place, not those of the first slice.
TEST(Noise, OfAPlaneGoesOnWhereTheLastOneEnded) {
  CorruptOptions options;
  options.only = "noise";
  const ImageCorruption corruption = DrawCorruption("x", options);
  Plane whole = EvenPlane(4, 6, 1, 0.5f);
  Plane second = EvenPlane(2, 6, 1, 0.5f);
  ApplyCorruption(corruption, 0, "x", &whole);
  ApplyCorruption(corruption, 12, "x", &second);
  for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(Value(second, i), Value(whole, 12 + i));
}

// Closed form: mirrored at the border, an even image has nothing to blur.
TEST(Blur, LeavesAnEvenImage) {
  for (const int64_t side : {1, 2, 3, 20}) {
    const Plane plane = Corrupted("blur", Severity::kStrong, EvenPlane(side, 5, 3, 0.25f));
    for (const float value : plane.values) EXPECT_NEAR(value, 0.25f, 1e-7f);
  }
}

// Closed form: a single bright pixel becomes the products of the taps (CR5).
TEST(Blur, OfAPointIsTheKernel) {
  Plane plane = EvenPlane(9, 11, 1, 0.0f);
  plane.values[4 * 11 + 5] = 1.0f;
  plane = Corrupted("blur", Severity::kMild, std::move(plane));
  const double sum = 1.0 + 2.0 * std::exp(-0.5) + 2.0 * std::exp(-2.0);
  for (int64_t y = 0; y < 9; ++y) {
    for (int64_t x = 0; x < 11; ++x) {
      const auto dy = static_cast<double>(y - 4);
      const auto dx = static_cast<double>(x - 5);
      const bool reached = std::fabs(dy) <= 2.0 && std::fabs(dx) <= 2.0;
      const double expected = reached ? std::exp(-0.5 * (dy * dy + dx * dx)) / (sum * sum) : 0.0;
      EXPECT_NEAR(Value(plane, y * 11 + x), expected, 1e-7) << y << " " << x;
    }
  }
}

TEST(Brightness, MultipliesAndStopsAtWhite) {
  const Plane plane = Corrupted("brightness", Severity::kStrong, RandomPlane(5, 7, 3));
  const Plane clean = RandomPlane(5, 7, 3);
  for (int64_t i = 0; i < plane.size(); ++i)
    EXPECT_NEAR(Value(plane, i), std::fmin(1.0, 1.8 * Value(clean, i)), 1e-7);
}

TEST(Fog, MixesWithWhite) {
  const Plane plane = Corrupted("fog", Severity::kMild, RandomPlane(5, 7, 3));
  const Plane clean = RandomPlane(5, 7, 3);
  for (int64_t i = 0; i < plane.size(); ++i)
    EXPECT_NEAR(Value(plane, i), 0.9 * Value(clean, i) + 0.1, 1e-7);
}

// An even image has one coefficient per block, which the quantisation moves by at most half a step:
// at quality 10 the luminance step of that coefficient is 80, and a block of value v has 8 v.
TEST(JpegCompression, OfAnEvenImageIsOffByLessThanAStep) {
  const Plane plane = Corrupted("jpeg", Severity::kStrong, EvenPlane(16, 16, 1, 0.5f));
  for (const float value : plane.values) EXPECT_NEAR(value, 0.5f, (80.0f / 8.0f / 2.0f + 1) / 255);
}

// Each of five channels is compressed by itself: what the others hold does not matter.
TEST(JpegCompression, TakesChannelsThatAreNoColoursOneByOne) {
  Plane five = RandomPlane(16, 24, 5);
  Plane one{.height = 16, .width = 24, .channels = 1, .values = {}};
  for (int64_t i = 0; i < 16 * 24; ++i)
    one.values.push_back(five.values[static_cast<size_t>(5 * i + 3)]);
  five = Corrupted("jpeg", Severity::kMild, std::move(five));
  one = Corrupted("jpeg", Severity::kMild, std::move(one));
  for (int64_t i = 0; i < 16 * 24; ++i) EXPECT_EQ(Value(five, 5 * i + 3), Value(one, i));
}

TEST(JpegCompression, RefusesASideThatNoJpegHas) {
  ExpectError(ErrorCode::kUnsupported, {"x: ", "70000", "65500"}, [] {
    Corrupted("jpeg", Severity::kMild, EvenPlane(1, 70000, 1, 0.5f));
  });
}

}  // namespace
}  // namespace segcal
