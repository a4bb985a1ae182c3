// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "kernels/channels.h"
#include "methods/selective/selector_problem.h"

namespace segcal {
namespace {

// Voxels that statistics are taken over: their error is then below that of the minibatches the
// network was trained with, by the root of 64.
constexpr int64_t kStatisticsTiles = (int64_t{1} << 18) / kTileVoxels;

}  // namespace

SelectorStatistics PopulationStatistics(const SelectorShape& shape,
                                        std::span<const double> parameters,
                                        const SelectorSample& sample,
                                        int threads) {
  const int64_t tiles = std::min(sample.num_tiles(), kStatisticsTiles);
  const auto count = static_cast<double>(tiles * kTileVoxels);
  SelectorStatistics statistics;
  for (int layer = 0; layer < kHiddenLayers; ++layer) {
    const auto l = static_cast<size_t>(layer);
    const auto channels = static_cast<size_t>(shape.outputs(layer));
    const Selector known(
        shape, std::vector<double>(parameters.begin(), parameters.end()), statistics);
    std::vector<std::vector<double>> sums(static_cast<size_t>(tiles),
                                          std::vector<double>(2 * channels, 0.0));
    ParallelFor(tiles, threads, [&](int64_t t, int) {
      AlignedBuffer memory;
      const float* features = sample.features(t * sample.num_tiles() / tiles);
      const float* dense = known.Scores(features, &memory, layer);
      AddChannelSums(dense, shape.outputs(layer), sums[static_cast<size_t>(t)].data());
    });
    statistics.mean[l].assign(channels, 0.0);
    statistics.variance[l].assign(channels, 0.0);
    for (size_t c = 0; c < channels; ++c) {
      double first = 0.0;
      double second = 0.0;
      for (const std::vector<double>& part : sums) {
        first += part[c];
        second += part[channels + c];
      }
      const double mean = first / count;
      statistics.mean[l][c] = mean;
      statistics.variance[l][c] = std::max(0.0, second / count - mean * mean);
    }
  }
  return statistics;
}

double SelectorLoss(const Selector& selector,
                    const SelectorSample& sample,
                    double wrong_weight,
                    int threads) {
  std::vector<double> losses(static_cast<size_t>(sample.num_tiles()));
  ParallelFor(sample.num_tiles(), threads, [&](int64_t t, int) {
    AlignedBuffer memory;
    const float* scores = selector.Scores(sample.features(t), &memory);
    const uint8_t* wrong = sample.wrong(t);
    double loss = 0.0;
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      const double margin =
          static_cast<double>(scores[kTileVoxels + v]) - static_cast<double>(scores[v]);
      const double x = wrong[v] != 0 ? -margin : margin;
      const double weight = wrong[v] != 0 ? wrong_weight : 1.0;
      loss += weight * (std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))));
    }
    losses[static_cast<size_t>(t)] = loss;
  });
  double total = 0.0;
  for (const double loss : losses) total += loss;
  const auto voxels = static_cast<double>(sample.num_voxels());
  return total / (voxels + (wrong_weight - 1.0) * static_cast<double>(sample.num_wrong()));
}

double ConstantScoreLoss(const SelectorSample& sample, double wrong_weight) {
  const double wrong = wrong_weight * static_cast<double>(sample.num_wrong());
  const auto correct = static_cast<double>(sample.num_voxels() - sample.num_wrong());
  const auto part = [&](double weight) {
    return weight > 0.0 ? -weight * std::log(weight / (wrong + correct)) : 0.0;
  };
  return (part(wrong) + part(correct)) / (wrong + correct);
}

}  // namespace segcal
