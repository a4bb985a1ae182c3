// SPDX-License-Identifier: Apache-2.0
#include "simulate/true_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "segcal/error.h"

namespace segcal {
namespace {

constexpr int64_t kClasses = 4;

TrueMapOptions Options() {
  TrueMapOptions options;
  options.num_classes = kClasses;
  options.rng = Rng(5, 8);
  return options;
}

const std::vector<double> kLogits = {1.5, -0.25, 6.0, 2.75};  // argmax 2

std::vector<double> Eta(const TrueMap& map,
                        const std::vector<double>& logits,
                        double local = -5.0) {
  std::vector<double> out(logits.size());
  map.Scores({logits, ArgMax(logits), local}, out);
  LogSoftmax(out);
  for (double& x : out) x = std::exp(x);
  return out;
}

// The plain definition, without any care for range.
std::vector<double> Softmax(const std::vector<double>& scores) {
  std::vector<double> out;
  double sum = 0.0;
  for (const double s : scores) sum += std::exp(s);
  for (const double s : scores) out.push_back(std::exp(s) / sum);
  return out;
}

void ExpectSame(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t c = 0; c < a.size(); ++c) EXPECT_NEAR(a[c], b[c], 1e-12) << "class " << c;
}

std::vector<double> Scaled(double factor) {
  std::vector<double> scores = kLogits;
  for (double& s : scores) s *= factor;
  return scores;
}

TEST(TrueMap, IdentityIsSoftmax) {
  ExpectSame(Eta(*MakeTrueMap("identity", Options()), kLogits), Softmax(kLogits));
}

TEST(TrueMap, TemperatureDividesLogits) {
  ExpectSame(Eta(*MakeTrueMap("temperature", Options()), kLogits), Softmax(Scaled(1.0 / 1.8)));
}

TEST(TrueMap, AffineIsItsWrittenMatrixAndBias) {
  const auto map = MakeTrueMap("affine", Options());
  const Json json = map->Describe();
  std::vector<double> scores;
  for (size_t j = 0; j < kClasses; ++j) {
    double score = json["bias"][j].get<double>();
    double row_sum = 0.0;
    for (size_t k = 0; k < kClasses; ++k) {
      score += json["weights"][j][k].get<double>() * kLogits[k];
      row_sum += json["weights"][j][k].get<double>();
    }
    scores.push_back(score);
    EXPECT_NEAR(row_sum, 1.0 / 1.8, 1e-12);
  }
  ExpectSame(Eta(*map, kLogits), Softmax(scores));
  EXPECT_GT(std::fabs(json["weights"][0][1].get<double>()), 1e-3);
}

TEST(TrueMap, ClassConditionalIsTheWrittenMapOfThePredictedClass) {
  const auto map = MakeTrueMap("class_conditional", Options());
  const Json json = map->Describe();
  std::vector<double> scores;
  for (size_t c = 0; c < kClasses; ++c) {
    scores.push_back(kLogits[c] / json["temperature"][2].get<double>() -
                     json["handicap"][2][c].get<double>());
  }
  ExpectSame(Eta(*map, kLogits), Softmax(scores));
  EXPECT_NE(json["temperature"][1], json["temperature"][2]);
}

TEST(TrueMap, ClassConditionalKeepsTheArgmax) {
  const auto map = MakeTrueMap("class_conditional", Options());
  Rng rng(1, 1);
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> logits;
    for (int64_t c = 0; c < kClasses; ++c) logits.push_back(rng.Normal());
    EXPECT_EQ(ArgMax(Eta(*map, logits)), ArgMax(logits));
  }
}

// In very clear places the temperature is T / 1.3, in very unclear ones 1.3 T, between in the
// middle of the gate it is the softplus of the mean leaf.
TEST(TrueMap, TemperatureFieldGoesFromLowToHighAsPlacesGetUnclear) {
  const auto map = MakeTrueMap("temperature_field", Options());
  const Json json = map->Describe();
  const double centre = json["centre"].get<double>();
  const double leaf = 0.5 * (json["leaf_low"].get<double>() + json["leaf_high"].get<double>());
  ExpectSame(Eta(*map, kLogits, -1000.0), Softmax(Scaled(1.3 / 1.8)));
  ExpectSame(Eta(*map, kLogits, 1000.0), Softmax(Scaled(1.0 / (1.3 * 1.8))));
  ExpectSame(Eta(*map, kLogits, centre), Softmax(Scaled(1.0 / std::log1p(std::exp(leaf)))));
}

TEST(TrueMap, EveryKindIgnoresACommonOffset) {
  std::vector<double> shifted = kLogits;
  for (double& z : shifted) z += 12.5;
  for (const TrueMapInfo& info : TrueMaps()) {
    const auto map = info.make(Options());
    SCOPED_TRACE(info.name);
    ExpectSame(Eta(*map, kLogits), Eta(*map, shifted));
  }
}

TEST(TrueMap, EveryKindIsCertainWithOneClass) {
  TrueMapOptions options = Options();
  options.num_classes = 1;
  for (const TrueMapInfo& info : TrueMaps()) {
    EXPECT_EQ(Eta(*info.make(options), {3.5}), std::vector<double>{1.0}) << info.name;
  }
}

TEST(TrueMap, UnknownNameListsTheKnownOnes) {
  try {
    MakeTrueMap("isotonic", Options());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("class_conditional"), std::string::npos);
  }
}

// A symmetric window leaves a plane unchanged where it does not touch the border; in the corner,
// reflection makes the mean offset (4 + 2 + 0 + 2 + 4) / 5 = 2.4 steps.
TEST(LocalSharpness, AveragesEverySecondNeighbourWithReflection) {
  const int64_t height = 12;
  const int64_t width = 15;
  std::vector<double> plane;
  for (int64_t slice = 0; slice < 2; ++slice) {
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        plane.push_back(static_cast<double>(100 * slice + 3 * y + x));
      }
    }
  }
  const std::vector<double> out = LocalSharpness({2, height, width}, plane, 2);
  EXPECT_NEAR(out[5 * 15 + 7], plane[5 * 15 + 7], 1e-12);
  EXPECT_NEAR(out[0], 3 * 2.4 + 2.4, 1e-12);
  EXPECT_NEAR(out[12 * 15], 100 + 3 * 2.4 + 2.4, 1e-12);
}

// Only every second neighbour counts, with weight 1/25.
TEST(LocalSharpness, SeesASpotOnlyAtEvenDistances) {
  std::vector<double> spot(21 * 21, 0.0);
  spot[10 * 21 + 10] = 25.0;
  const std::vector<double> out = LocalSharpness({21, 21}, spot, 1);
  EXPECT_NEAR(out[10 * 21 + 14], 1.0, 1e-12);
  EXPECT_EQ(out[10 * 21 + 13], 0.0);
  EXPECT_EQ(out[10 * 21 + 16], 0.0);
}

TEST(LocalSharpness, ClampsAlongShortSides) {
  const std::vector<double> out = LocalSharpness({1, 3}, {0.0, 0.0, 5.0}, 1);
  // From x = 0 the taps -4, -2, 0, 2, 4 read positions 0, 0, 0, 2, 2.
  EXPECT_NEAR(out[0], 2.0, 1e-12);
}

}  // namespace
}  // namespace segcal
