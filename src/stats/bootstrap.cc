// SPDX-License-Identifier: Apache-2.0
#include "stats/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <map>
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

// The defined values of cases that are drawn together.
struct UnitSum {
  double sum = 0.0;
  int64_t count = 0;
};

// In the order of their first case, without units that have no defined value; without `units`, one
// per case.
std::vector<UnitSum> SumUnits(const std::vector<double>& values,
                              const std::vector<int64_t>* units) {
  std::map<int64_t, size_t> known;
  std::vector<UnitSum> sums;
  for (size_t i = 0; i < values.size(); ++i) {
    size_t at = sums.size();
    if (units != nullptr) at = known.emplace((*units)[i], at).first->second;
    if (at == sums.size()) sums.emplace_back();
    if (std::isnan(values[i])) continue;
    sums[at].sum += values[i];
    sums[at].count += 1;
  }
  std::erase_if(sums, [](const UnitSum& unit) { return unit.count == 0; });
  return sums;
}

// (BS1) of drawn units: a unit of many cases weighs as they do.
double MeanOfMeans(const std::vector<std::vector<UnitSum>>& units,
                   std::span<const CaseDraw> draws) {
  double total = 0.0;
  for (const CaseDraw& draw : draws) {
    const std::vector<UnitSum>& repeat = units[static_cast<size_t>(draw.repeat)];
    UnitSum all;
    for (const int64_t drawn : draw.cases) {
      all.sum += repeat[static_cast<size_t>(drawn)].sum;
      all.count += repeat[static_cast<size_t>(drawn)].count;
    }
    total += all.sum / static_cast<double>(all.count);
  }
  return total / static_cast<double>(draws.size());
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

BootstrapInterval BootstrapMean(const RepeatedValues& values,
                                const BootstrapOptions& options,
                                const DrawUnits& units) {
  std::vector<std::vector<UnitSum>> sums;
  std::vector<int64_t> sizes;
  for (size_t r = 0; r < values.size(); ++r) {
    std::vector<UnitSum> repeat = SumUnits(values[r], units.empty() ? nullptr : &units[r]);
    if (repeat.empty()) continue;
    sizes.push_back(static_cast<int64_t>(repeat.size()));
    sums.push_back(std::move(repeat));
  }
  return BootstrapStatistic(
      sizes, [&](std::span<const CaseDraw> draws) { return MeanOfMeans(sums, draws); }, options);
}

BootstrapInterval BootstrapPairedDifference(const RepeatedValues& first,
                                            const RepeatedValues& second,
                                            const BootstrapOptions& options,
                                            const DrawUnits& units) {
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
  return BootstrapMean(differences, options, units);
}

}  // namespace segcal
