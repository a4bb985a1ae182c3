// SPDX-License-Identifier: Apache-2.0
// How often the interval of a paired difference holds zero where two pipelines are exchangeable:
// the figures of docs/methods/bootstrap.md. With SEGCAL_LONG_TESTS set 400 studies each, else 100.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>

#include "core/random_order.h"
#include "core/rng.h"
#include "segcal/evaluate.h"

namespace segcal {
namespace {

constexpr int64_t kPool = 100;  // cases that partitions are drawn from
constexpr int64_t kTestCases = 40;

int64_t NumNullStudies() { return std::getenv("SEGCAL_LONG_TESTS") != nullptr ? 400 : 100; }

// Losses of two pipelines that differ by chance alone: a case has its difficulty, and each pipeline
// its own luck with it, in every repeat the same; each fit shifts all of its cases a little.
std::vector<EvaluateResult> NullStudy(int64_t repeats, double fit_spread, uint64_t seed) {
  Rng rng(11, seed);
  std::vector<double> difficulty;
  std::vector<std::array<double, 2>> luck;
  for (int64_t c = 0; c < kPool; ++c) {
    difficulty.push_back(std::exp(rng.Normal()));
    luck.push_back({0.1 * rng.Normal(), 0.1 * rng.Normal()});
  }
  std::vector<EvaluateResult> results;
  for (int64_t r = 0; r < repeats; ++r) {
    EvaluateResult& result = results.emplace_back();
    const std::vector<int64_t> order = RandomOrder(kPool, Rng(13 + seed, static_cast<uint64_t>(r)));
    for (size_t p = 0; p < 2; ++p) {
      PipelineMetrics& pipeline = result.pipelines.emplace_back();
      pipeline.pipeline = p == 0 ? "ts(z)" : "ets(z)";
      const double fit = fit_spread * rng.Normal();
      double sum = 0.0;
      for (int64_t i = 0; i < kTestCases; ++i) {
        const auto c = static_cast<size_t>(order[static_cast<size_t>(i)]);
        const double value = difficulty[c] * (1.0 + luck[c][p]) + fit;
        sum += value;
        pipeline.cases.push_back({.id = fmt::format("{}", c),
                                  .group = "",
                                  .metrics = {{"nll", value, {}}},
                                  .cells = {},
                                  .pooled_bins = {}});
      }
      pipeline.mean = {{"nll", sum / static_cast<double>(kTestCases), {}}};
      pipeline.pooled = pipeline.mean;
    }
  }
  return results;
}

double NullCoverage(int64_t repeats, double fit_spread) {
  int64_t held = 0;
  for (int64_t study = 0; study < NumNullStudies(); ++study) {
    const auto results = NullStudy(repeats, fit_spread, static_cast<uint64_t>(study));
    StatisticsOptions options;
    options.metrics = {"nll"};
    options.pairs = {{"ts(z)", "ets(z)"}};
    options.seed = static_cast<uint64_t>(study);
    const Statistics statistics = ComputeStatistics(results, options);
    held += ExcludesZero(statistics.pairs[0].comparisons[0].difference) ? 0 : 1;
  }
  const double share = static_cast<double>(held) / static_cast<double>(NumNullStudies());
  fmt::print("repeats {}, spread of fits {}: {:.2f} %\n", repeats, fit_spread, 100.0 * share);
  return share;
}

// Three standard deviations of a share of so many studies, around the level.
double Tolerance() { return 3.0 * std::sqrt(0.95 * 0.05 / static_cast<double>(NumNullStudies())); }

TEST(NullCoverage, OfOnePartitionIsNearTheLevel) {
  EXPECT_NEAR(NullCoverage(1, 0.0), 0.95, Tolerance());
}

// Repeats share cases, which are drawn in all of them at once (BS6).
TEST(NullCoverage, OfThreePartitionsIsNearTheLevel) {
  for (const double spread : {0.0, 0.01, 0.03})
    EXPECT_NEAR(NullCoverage(3, spread), 0.95, Tolerance()) << spread;
}

}  // namespace
}  // namespace segcal
