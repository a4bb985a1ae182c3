// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace segcal {

struct BootstrapOptions {
  // 2000 put the ends of a 95 % interval within about 3 % of its width of where more would.
  int64_t replicates = 2000;
  double level = 0.95;  // in (0, 1)
  uint64_t seed = 0;
  int num_threads = 1;  // 0: all available; the result does not depend on it
};

// An estimate with its percentile bootstrap interval; bounds are NaN where fewer than two cases
// leave nothing to resample.
struct BootstrapInterval {
  double estimate = 0.0;
  double lower = 0.0;
  double upper = 0.0;
  int64_t num_cases = 0;  // or units, that took part, over all repeats
};

// One metric: values[repeat][case]. NaN is a case where the metric is undefined; it takes no part.
using RepeatedValues = std::vector<std::vector<double>>;

// Which cases are drawn together: units[repeat][case], equal for the cases of one patient, in other
// repeats too. Empty: every case is drawn by itself, and repeats share none.
using DrawUnits = std::vector<std::vector<int64_t>>;

// The mean over repeats of the mean over cases (BS1), with the interval of the two-level bootstrap
// (BS2-BS4): repeats drawn with replacement, then the cases (or units) of each. One repeat: cases
// alone.
BootstrapInterval BootstrapMean(const RepeatedValues& values,
                                const BootstrapOptions& options,
                                const DrawUnits& units = {});

// The same of the case-wise differences second - first (BS5): both must list the same cases, and a
// case takes part where both are defined.
BootstrapInterval BootstrapPairedDifference(const RepeatedValues& first,
                                            const RepeatedValues& second,
                                            const BootstrapOptions& options,
                                            const DrawUnits& units = {});

// Cases (or units) of one repeat, as often as they were drawn.
struct CaseDraw {
  int64_t repeat = 0;
  std::vector<int64_t> cases;
};

// Any statistic of drawn cases, such as a metric of their pooled voxels. The estimate is that of
// every case once; replicates where it is NaN take no part in the interval. It is called from
// several threads at once. `units` has a number for each of them: where repeats share some, (BS6).
BootstrapInterval BootstrapStatistic(
    const std::vector<int64_t>& cases_per_repeat,
    const std::function<double(std::span<const CaseDraw>)>& statistic,
    const BootstrapOptions& options,
    const DrawUnits& units = {});

}  // namespace segcal
