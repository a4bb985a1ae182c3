// SPDX-License-Identifier: Apache-2.0
#include "data/temperature_pass.h"

#include "core/parallel.h"

namespace segcal {

void TemperatureTotals::Flush() noexcept {
  count_ += pending_.count;
  loss_.Add(pending_.loss);
  slope_.Add(pending_.slope);
  curvature_.Add(pending_.curvature);
  skew_.Add(pending_.skew);
  pending_ = {};
}

void TemperatureTotals::Merge(const TemperatureTotals& other) noexcept {
  count_ += other.count_;
  loss_.Merge(other.loss_);
  slope_.Merge(other.slope_);
  curvature_.Merge(other.curvature_);
  skew_.Merge(other.skew_);
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
  constexpr int64_t kTilesPerBlock = kBlockVoxels / kTileVoxels;
  const int64_t num_blocks = (sample.num_tiles() + kTilesPerBlock - 1) / kTilesPerBlock;
  std::vector<TemperatureTotals> totals(static_cast<size_t>(num_threads));
  ParallelFor(num_blocks, num_threads, [&](int64_t block, int worker) {
    TemperatureTotals& mine = totals[static_cast<size_t>(worker)];
    const int64_t end = std::min(sample.num_tiles(), (block + 1) * kTilesPerBlock);
    for (int64_t t = block * kTilesPerBlock; t < end; ++t)
      AddTemperatureSums(sample.tile(t), beta, mine.pending());
    mine.Flush();
  });
  TemperatureTotals total;
  for (const TemperatureTotals& part : totals) total.Merge(part);
  return total.Sums();
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
