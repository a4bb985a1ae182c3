// SPDX-License-Identifier: Apache-2.0
// How often bootstrap intervals hold the truth, on studies of small simulated cases: the figures of
// docs/methods/bootstrap.md. With SEGCAL_LONG_TESTS set 1,000 studies each, else 100.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "core/parallel.h"
#include "core/rng.h"
#include "stats/bootstrap.h"

namespace segcal {
namespace {

constexpr int64_t kCases = 200;
constexpr int64_t kTruthCases = 100000;

bool Long() { return std::getenv("SEGCAL_LONG_TESTS") != nullptr; }
int64_t NumStudies() { return Long() ? 1000 : 100; }

double Sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// ECE in ten bins of a case of 100 voxels. Cases differ in difficulty and in how over-confident the
// model is on them; a repeat shifts that for all of its cases: another training, another fit.
double CaseError(double repeat_shift, Rng* rng) {
  const double difficulty = rng->Normal();
  const double sharpness = std::exp(0.4 + repeat_shift + 0.3 * rng->Normal());
  std::array<double, 10> gaps{};
  for (int v = 0; v < 100; ++v) {
    const double score = 1.0 + 0.5 * difficulty + rng->Normal();
    const double confidence = Sigmoid(sharpness * score);
    const double correct = rng->Uniform() < Sigmoid(score) ? 1.0 : 0.0;
    gaps[std::min<size_t>(9, static_cast<size_t>(10.0 * confidence))] += confidence - correct;
  }
  double sum = 0.0;
  for (const double gap : gaps) sum += std::fabs(gap);
  return sum / 100.0;
}

// The expected error over repeats and cases, by Monte Carlo: its own error is a twentieth of that
// of a study with one repeat.
double Truth(double repeat_spread) {
  Rng rng(1, 1);
  double sum = 0.0;
  for (int64_t i = 0; i < kTruthCases; ++i) sum += CaseError(repeat_spread * rng.Normal(), &rng);
  return sum / static_cast<double>(kTruthCases);
}

// The share of studies whose interval holds the truth.
double Coverage(size_t num_repeats, double repeat_spread) {
  const double truth = Truth(repeat_spread);
  std::vector<char> holds(static_cast<size_t>(NumStudies()));
  ParallelFor(NumStudies(), 0, [&](int64_t study, int) {
    Rng rng(2, static_cast<uint64_t>(study));
    RepeatedValues values(num_repeats);
    for (std::vector<double>& repeat : values) {
      const double shift = repeat_spread * rng.Normal();
      for (int64_t i = 0; i < kCases; ++i) repeat.push_back(CaseError(shift, &rng));
    }
    const BootstrapInterval interval =
        BootstrapMean(values, {.seed = static_cast<uint64_t>(study)});
    holds[static_cast<size_t>(study)] = interval.lower <= truth && truth <= interval.upper ? 1 : 0;
  });
  const double share = static_cast<double>(std::count(holds.begin(), holds.end(), 1)) /
                       static_cast<double>(NumStudies());
  fmt::print("repeats {}, spread {}: {:.1f} %\n", num_repeats, repeat_spread, 100.0 * share);
  return share;
}

// Three standard deviations of the share of studies, around what the page states.
void ExpectNear(double coverage, double stated) {
  const double deviation = std::sqrt(stated * (1.0 - stated) / static_cast<double>(NumStudies()));
  EXPECT_NEAR(coverage, stated, 3.0 * deviation);
}

TEST(BootstrapCoverage, OfOneRepeatIsNearItsLevel) {
  const double coverage = Coverage(1, 0.0);
  EXPECT_GE(coverage, Long() ? 0.93 : 0.88);
  EXPECT_LE(coverage, Long() ? 0.97 : 0.995);
}

TEST(BootstrapCoverage, OfThreeRepeatsThatDifferByTheirCasesAloneIsAboveItsLevel) {
  ExpectNear(Coverage(3, 0.0), 0.981);
}

TEST(BootstrapCoverage,
     OfThreeRepeatsThatDifferAsMuchAsTheErrorOfTheirMeansIsALittleBelowItsLevel) {
  ExpectNear(Coverage(3, 0.04), 0.927);
}

TEST(BootstrapCoverage, OfThreeRepeatsThatDifferMuchIsBelowItsLevel) {
  ExpectNear(Coverage(3, 0.4), 0.728);
}

}  // namespace
}  // namespace segcal
