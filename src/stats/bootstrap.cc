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

// The units of all repeats by place, where some are in several repeats; empty otherwise.
DrawUnits SharedUnits(const DrawUnits& units) {
  std::map<int64_t, int64_t> places;
  int64_t count = 0;
  for (const auto& repeat : units) {
    for (const int64_t unit : repeat) {
      places.emplace(unit, static_cast<int64_t>(places.size()));
      ++count;
    }
  }
  if (static_cast<int64_t>(places.size()) == count) return {};
  DrawUnits shared = units;
  for (auto& repeat : shared) {
    for (int64_t& unit : repeat) unit = places.at(unit);
  }
  return shared;
}

int64_t CountPlaces(const DrawUnits& shared) {
  int64_t count = 0;
  for (const auto& repeat : shared) {
    for (const int64_t place : repeat) count = std::max(count, place + 1);
  }
  return count;
}

// (BS6): repeats with replacement, and of all units together as many as there are; a drawn repeat
// has each of its units as often as that unit was drawn. One of which none was drawn is drawn
// again.
void ResampleShared(const DrawUnits& shared,
                    int64_t num_places,
                    Rng rng,
                    std::vector<CaseDraw>* draws) {
  std::vector<int64_t> times(static_cast<size_t>(num_places), 0);
  for (int64_t i = 0; i < num_places; ++i) ++times[static_cast<size_t>(rng.Below(num_places))];
  for (CaseDraw& draw : *draws) {
    do {
      draw.repeat = rng.Below(static_cast<int64_t>(shared.size()));
      draw.cases.clear();
      const std::vector<int64_t>& units = shared[static_cast<size_t>(draw.repeat)];
      for (size_t u = 0; u < units.size(); ++u)
        draw.cases.insert(draw.cases.end(),
                          static_cast<size_t>(times[static_cast<size_t>(units[u])]),
                          static_cast<int64_t>(u));
    } while (draw.cases.empty());
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
  int64_t unit = 0;
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
    if (at == sums.size()) sums.push_back({.unit = units == nullptr ? 0 : (*units)[i]});
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
    const BootstrapOptions& options,
    const DrawUnits& units) {
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
  const DrawUnits shared = SharedUnits(units);
  const int64_t num_places = CountPlaces(shared);
  std::vector<double> replicates(static_cast<size_t>(options.replicates));
  const int threads = options.num_threads > 0 ? options.num_threads : AvailableThreads();
  std::vector<std::vector<CaseDraw>> draws(static_cast<size_t>(threads), identity);
  ParallelFor(options.replicates, threads, [&](int64_t replicate, int worker) {
    std::vector<CaseDraw>& own = draws[static_cast<size_t>(worker)];
    const Rng rng(options.seed, static_cast<uint64_t>(replicate));
    if (shared.empty()) {
      Resample(cases_per_repeat, rng, &own);
    } else {
      ResampleShared(shared, num_places, rng, &own);
    }
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
  DrawUnits defined;
  for (size_t r = 0; r < values.size(); ++r) {
    std::vector<UnitSum> repeat = SumUnits(values[r], units.empty() ? nullptr : &units[r]);
    if (repeat.empty()) continue;
    sizes.push_back(static_cast<int64_t>(repeat.size()));
    std::vector<int64_t>& known = defined.emplace_back();
    for (const UnitSum& unit : repeat) known.push_back(unit.unit);
    sums.push_back(std::move(repeat));
  }
  if (units.empty()) defined.clear();
  return BootstrapStatistic(
      sizes,
      [&](std::span<const CaseDraw> draws) { return MeanOfMeans(sums, draws); },
      options,
      defined);
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
