// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/temperature_pass.h"

#include "data/reduce.h"

namespace segcal {

void TemperatureTotals::Flush() noexcept {
  count_ += pending_.count;
  loss_.Add(pending_.loss);
  slope_.Add(pending_.slope);
  curvature_.Add(pending_.curvature);
  skew_.Add(pending_.skew);
  pending_ = {};
}

TemperatureSums TemperatureTotals::Sums() const noexcept {
  return {.count = count_,
          .loss = loss_.value(),
          .slope = slope_.value(),
          .curvature = curvature_.value(),
          .skew = skew_.value()};
}

TemperatureSums TemperaturePass(const CaseStream& stream,
                                const std::string& stage,
                                const Pooling& pooling,
                                double beta) {
  const auto add = [&](const Tile& tile, int64_t, TemperatureTotals* totals) {
    AddTemperatureSums(tile, beta, totals->pending());
  };
  return ReduceTiles(stream, stage, pooling, TemperatureTotals{}, add).Sums();
}

TemperatureSums TemperaturePass(const TileSample& sample, int num_threads, double beta) {
  const auto add = [&](const Tile& tile, TemperatureTotals* totals) {
    AddTemperatureSums(tile, beta, totals->pending());
  };
  return ReduceTiles(sample, num_threads, TemperatureTotals{}, add).Sums();
}

Point1D MeanPoint(double beta, const TemperatureSums& sums) noexcept {
  const auto n = static_cast<double>(sums.count);
  return {.x = beta,
          .value = sums.loss / n,
          .slope = sums.slope / n,
          .curvature = sums.curvature / n,
          .third = sums.skew / n};
}

}  // namespace segcal
