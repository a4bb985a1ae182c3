// SPDX-License-Identifier: Apache-2.0
#include "stats/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/parallel.h"
#include "core/quantile.h"
#include "core/rng.h"
#include "core/throw.h"

namespace segcal {
namespace {

void CheckOptions(const BootstrapOptions& options) {
  if (options.replicates < 1) {
    Throw(ErrorCode::kInvalidArgument,
          "bootstrap: {} replicates; at least 1 is needed",
          options.replicates);
  }
  if (!(options.level > 0.0 && options.level < 1.0)) {
    Throw(ErrorCode::kInvalidArgument,
          "bootstrap: level {}; it must lie between 0 and 1",
          options.level);
  }
}

// Every case once.
std::vector<CaseDraw> Identity(const std::vector<int64_t>& cases_per_repeat) {
  std::vector<CaseDraw> draws;
  for (const int64_t size : cases_per_repeat) {
    CaseDraw draw{.repeat = static_cast<int64_t>(draws.size()),
                  .cases = std::vector<int64_t>(static_cast<size_t>(size))};
    std::iota(draw.cases.begin(), draw.cases.end(), int64_t{0});
    draws.push_back(std::move(draw));
  }
  return draws;
}

// (BS2): as many repeats as there are, with replacement, and of each as many cases as it has.
void Resample(const std::vector<int64_t>& cases_per_repeat, Rng rng, std::vector<CaseDraw>* draws) {
  const auto repeats = static_cast<int64_t>(cases_per_repeat.size());
  for (CaseDraw& draw : *draws) {
    draw.repeat = rng.Below(repeats);
    const int64_t size = cases_per_repeat[static_cast<size_t>(draw.repeat)];
    draw.cases.resize(static_cast<size_t>(size));
    for (int64_t& drawn : draw.cases) drawn = rng.Below(size);
  }
}

std::vector<double> DefinedOnly(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  return values;
}

// (BS1) of drawn cases.
double MeanOfMeans(const RepeatedValues& values, std::span<const CaseDraw> draws) {
  double sum = 0.0;
  for (const CaseDraw& draw : draws) {
    const std::vector<double>& repeat = values[static_cast<size_t>(draw.repeat)];
    double inner = 0.0;
    for (const int64_t drawn : draw.cases) inner += repeat[static_cast<size_t>(drawn)];
    sum += inner / static_cast<double>(draw.cases.size());
  }
  return sum / static_cast<double>(draws.size());
}

}  // namespace

BootstrapInterval BootstrapStatistic(
    const std::vector<int64_t>& cases_per_repeat,
    const std::function<double(std::span<const CaseDraw>)>& statistic,
    const BootstrapOptions& options) {
  CheckOptions(options);
  const double undefined = std::nan("");
  BootstrapInterval interval{.estimate = undefined, .lower = undefined, .upper = undefined};
  for (const int64_t size : cases_per_repeat) {
    if (size < 1) {
      Throw(ErrorCode::kInvalidArgument, "bootstrap: a repeat has {} cases; at least 1", size);
    }
    interval.num_cases += size;
  }
  if (cases_per_repeat.empty()) return interval;
  const std::vector<CaseDraw> identity = Identity(cases_per_repeat);
  interval.estimate = statistic(identity);
  if (interval.num_cases < 2) return interval;
  std::vector<double> replicates(static_cast<size_t>(options.replicates));
  const int threads = options.num_threads > 0 ? options.num_threads : AvailableThreads();
  std::vector<std::vector<CaseDraw>> draws(static_cast<size_t>(threads), identity);
  ParallelFor(options.replicates, threads, [&](int64_t replicate, int worker) {
    std::vector<CaseDraw>& own = draws[static_cast<size_t>(worker)];
    Resample(cases_per_repeat, Rng(options.seed, static_cast<uint64_t>(replicate)), &own);
    replicates[static_cast<size_t>(replicate)] = statistic(own);
  });
  replicates = DefinedOnly(std::move(replicates));
  interval.lower = Quantile(replicates, 0.5 * (1.0 - options.level));  // (BS4)
  interval.upper = Quantile(replicates, 0.5 * (1.0 + options.level));
  return interval;
}

BootstrapInterval BootstrapMean(const RepeatedValues& values, const BootstrapOptions& options) {
  RepeatedValues defined;
  std::vector<int64_t> sizes;
  for (const std::vector<double>& repeat : values) {
    std::vector<double> kept = DefinedOnly(repeat);
    if (kept.empty()) continue;
    sizes.push_back(static_cast<int64_t>(kept.size()));
    defined.push_back(std::move(kept));
  }
  return BootstrapStatistic(
      sizes, [&](std::span<const CaseDraw> draws) { return MeanOfMeans(defined, draws); }, options);
}

BootstrapInterval BootstrapPairedDifference(const RepeatedValues& first,
                                            const RepeatedValues& second,
                                            const BootstrapOptions& options) {
  if (first.size() != second.size()) {
    Throw(ErrorCode::kInvalidArgument,
          "paired differences: {} and {} repeats; they must be the same",
          first.size(),
          second.size());
  }
  RepeatedValues differences = second;
  for (size_t r = 0; r < first.size(); ++r) {
    if (first[r].size() != second[r].size()) {
      Throw(ErrorCode::kInvalidArgument,
            "paired differences: {} and {} cases in repeat {}; they must be the same",
            first[r].size(),
            second[r].size(),
            r);
    }
    for (size_t i = 0; i < first[r].size(); ++i) differences[r][i] -= first[r][i];
  }
  return BootstrapMean(differences, options);
}

}  // namespace segcal
