// SPDX-License-Identifier: Apache-2.0
#include "methods/selective/selector_problem.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/random_order.h"
#include "kernels/affine.h"
#include "kernels/channels.h"

namespace segcal {
namespace {

constexpr uint64_t kSelectorOrderStream = 0x5345484F52444552;
// An epoch of few voxels has smaller minibatches rather than fewer steps.
constexpr int64_t kLeastSteps = 32;

}  // namespace

SelectorProblem::SelectorProblem(const SelectorSample& training,
                                 const SelectorSample& validation,
                                 const Options& options)
    : shape_(training.num_classes()),
      training_(training),
      validation_(validation),
      options_(options),
      steps_(std::min(training.num_tiles(),
                      std::max(kLeastSteps, training.num_voxels() / options.batch_voxels))) {}

double SelectorProblem::Step(int64_t epoch,
                             int64_t step,
                             std::span<const double> parameters,
                             std::span<double> gradient) {
  PlanEpoch(epoch);
  const int64_t tiles = training_.num_tiles();
  const int64_t begin = tiles * step / steps_;
  const int64_t end = tiles * (step + 1) / steps_;
  return Evaluate(std::span<const int64_t>(order_).subspan(static_cast<size_t>(begin),
                                                           static_cast<size_t>(end - begin)),
                  parameters,
                  gradient);
}

double SelectorProblem::Validate(std::span<const double> parameters) {
  const Selector selector(shape_,
                          std::vector<double>(parameters.begin(), parameters.end()),
                          PopulationStatistics(shape_, parameters, training_, options_.threads));
  return SelectorLoss(selector, validation_, options_.wrong_weight, options_.threads);
}

void SelectorProblem::PlanEpoch(int64_t epoch) {
  if (epoch == planned_epoch_) return;
  order_ = RandomOrder(training_.num_tiles(),
                       Rng(options_.seed, kSelectorOrderStream + static_cast<uint64_t>(epoch)));
  planned_epoch_ = epoch;
}

void SelectorProblem::Reserve(size_t num_tiles) {
  if (work_.size() < num_tiles) work_.resize(num_tiles);
  int64_t rows = 2;
  for (int l = 0; l < kHiddenLayers; ++l) rows += 3 * shape_.outputs(l);
  for (size_t t = 0; t < num_tiles; ++t) {
    Work& work = work_[t];
    auto* next =
        reinterpret_cast<float*>(work.memory.Reserve(rows * kTileVoxels * int64_t{sizeof(float)}));
    const auto take = [&next](int64_t count) {
      float* taken = next;
      next += count * kTileVoxels;
      return taken;
    };
    for (size_t l = 0; l < kHiddenLayers; ++l) {
      const int64_t channels = shape_.outputs(static_cast<int>(l));
      work.dense[l] = take(channels);
      work.active[l] = take(channels);
      work.delta[l] = take(channels);
    }
    work.scores = take(2);
  }
}

const float* SelectorProblem::Input(int layer, int64_t tile, const Work& work) const {
  return layer == 0 ? training_.features(tile) : work.active[static_cast<size_t>(layer) - 1];
}

// In the order of the tiles, whoever computed them.
std::vector<double> SelectorProblem::TotalSums(size_t num_tiles) const {
  std::vector<double> total(work_[0].sums.size(), 0.0);
  for (size_t t = 0; t < num_tiles; ++t) {
    for (size_t i = 0; i < total.size(); ++i) total[i] += work_[t].sums[i];
  }
  return total;
}

void SelectorProblem::AddGradients(int layer, size_t num_tiles, std::span<double> gradient) const {
  double* into = gradient.data() + shape_.weights(layer);
  for (size_t t = 0; t < num_tiles; ++t) {
    const std::vector<double>& part = work_[t].gradient;
    for (size_t i = 0; i < part.size(); ++i) into[i] += part[i];
  }
}

// Statistics of the minibatch (SS3), and the scale and shift they make.
void SelectorProblem::Normalise(int layer, std::span<const double> parameters, size_t num_tiles) {
  const auto l = static_cast<size_t>(layer);
  const auto channels = static_cast<size_t>(shape_.outputs(layer));
  const auto count = static_cast<double>(num_tiles) * kTileVoxels;
  const std::vector<double> sums = TotalSums(num_tiles);
  batch_.mean[l].resize(channels);
  batch_.variance[l].resize(channels);
  for (size_t c = 0; c < channels; ++c) {
    const double mean = sums[c] / count;
    batch_.mean[l][c] = mean;
    batch_.variance[l][c] = std::max(0.0, sums[channels + c] / count - mean * mean);
  }
  scales_[l] = FoldScale(shape_, layer, parameters, batch_);
}

// Scores to loss (SS6) and its gradient by the scores.
void SelectorProblem::ScoreTile(int64_t tile,
                                double total_weight,
                                const double* bias,
                                Work* work) const {
  const uint8_t* wrong = training_.wrong(tile);
  work->loss = 0.0;
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    const double margin = static_cast<double>(work->scores[kTileVoxels + v]) -
                          static_cast<double>(work->scores[v]) + bias[1] - bias[0];
    const double weight = (wrong[v] != 0 ? options_.wrong_weight : 1.0) / total_weight;
    // log(1 + exp(x)) of the margin by which the wrong side leads, safe for any x.
    const double x = wrong[v] != 0 ? -margin : margin;
    work->loss += weight * (std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))));
    const double slope = weight / (1.0 + std::exp(-x)) * (wrong[v] != 0 ? -1.0 : 1.0);
    work->scores[kTileVoxels + v] = static_cast<float>(slope);
    work->scores[v] = static_cast<float>(-slope);
  }
}

// Forward through all layers; leaves the gradient by the scores in the work.
double SelectorProblem::Loss(std::span<const int64_t> tiles, std::span<const double> parameters) {
  const size_t n = tiles.size();
  double total_weight = 0.0;
  for (const int64_t tile : tiles) {
    const auto wrong = static_cast<double>(training_.num_wrong(tile));
    total_weight += static_cast<double>(kTileVoxels) + (options_.wrong_weight - 1.0) * wrong;
  }
  for (int layer = 0; layer <= kHiddenLayers; ++layer) {
    const std::vector<float> weights = FoldWeights(shape_, layer, parameters);
    ParallelFor(static_cast<int64_t>(n), options_.threads, [&](int64_t t, int) {
      Work& work = work_[static_cast<size_t>(t)];
      const int64_t tile = tiles[static_cast<size_t>(t)];
      if (layer > 0) {
        const auto before = static_cast<size_t>(layer) - 1;
        ScaleShiftRelu(work.dense[before],
                       shape_.outputs(layer - 1),
                       scales_[before].scale.data(),
                       scales_[before].shift.data(),
                       work.active[before]);
      }
      const int64_t outputs = shape_.outputs(layer);
      float* out = layer == kHiddenLayers ? work.scores : work.dense[static_cast<size_t>(layer)];
      AffineTile(Input(layer, tile, work),
                 {.high = weights.data(), .num_rows = outputs, .num_columns = shape_.inputs(layer)},
                 kTileVoxels,
                 out);
      if (layer == kHiddenLayers) {
        ScoreTile(tile, total_weight, parameters.data() + shape_.bias(), &work);
      } else {
        work.sums.assign(static_cast<size_t>(2 * outputs), 0.0);
        AddChannelSums(out, outputs, work.sums.data());
      }
    });
    if (layer < kHiddenLayers) Normalise(layer, parameters, n);
  }
  double loss = 0.0;
  for (size_t t = 0; t < n; ++t) loss += work_[t].loss;
  return loss;
}

// The gradient by gamma and beta of a layer, and the factors that take the gradient through its
// normalisation to what was normalised (SS7).
std::vector<float> SelectorProblem::ThroughNormalisation(int layer,
                                                         size_t num_tiles,
                                                         std::span<const double> parameters,
                                                         std::span<double> gradient) const {
  const auto l = static_cast<size_t>(layer);
  const auto channels = static_cast<size_t>(shape_.outputs(layer));
  const auto count = static_cast<double>(num_tiles) * kTileVoxels;
  const std::vector<double> sums = TotalSums(num_tiles);
  std::vector<float> abk(3 * channels);
  for (size_t c = 0; c < channels; ++c) {
    const double mean = batch_.mean[l][c];
    const double inverse = 1.0 / std::sqrt(batch_.variance[l][c] + kVarianceFloor);
    const double scale = inverse * parameters[static_cast<size_t>(shape_.gamma(layer)) + c];
    const double by_gamma = inverse * (sums[channels + c] - mean * sums[c]);
    gradient[static_cast<size_t>(shape_.gamma(layer)) + c] = by_gamma;
    gradient[static_cast<size_t>(shape_.beta(layer)) + c] = sums[c];
    const double slope = -scale * inverse * by_gamma / count;
    abk[c] = static_cast<float>(scale);
    abk[channels + c] = static_cast<float>(slope);
    abk[2 * channels + c] = static_cast<float>(-scale * sums[c] / count - slope * mean);
  }
  return abk;
}

// From the gradient by a layer's output to that by its weights, and by the output of the layer
// before, through its rectifier (SS7).
void SelectorProblem::LayerBack(int layer,
                                std::span<const int64_t> tiles,
                                std::span<const double> parameters,
                                std::span<double> gradient) {
  const std::vector<float> transposed = FoldWeights(shape_, layer, parameters, true);
  const int64_t outputs = shape_.outputs(layer);
  const int64_t inputs = shape_.inputs(layer);
  const bool hidden = layer < kHiddenLayers;
  const auto l = static_cast<size_t>(layer);
  const std::vector<float> abk =
      hidden ? ThroughNormalisation(layer, tiles.size(), parameters, gradient)
             : std::vector<float>{};
  ParallelFor(static_cast<int64_t>(tiles.size()), options_.threads, [&](int64_t t, int) {
    Work& work = work_[static_cast<size_t>(t)];
    float* delta = hidden ? work.delta[l] : work.scores;
    if (hidden) NormaliseBack(work.dense[l], outputs, abk.data(), delta);
    work.gradient.assign(static_cast<size_t>(shape_.num_weights(layer)), 0.0);
    const float* input = Input(layer, tiles[static_cast<size_t>(t)], work);
    AddOuterProduct(delta, outputs, input, inputs, kTileVoxels, work.gradient.data());
    if (layer == 0) return;
    AffineTile(delta,
               {.high = transposed.data(), .num_rows = inputs, .num_columns = outputs},
               kTileVoxels,
               work.delta[l - 1]);
    work.sums.assign(static_cast<size_t>(2 * inputs), 0.0);
    ReluBack(work.active[l - 1], work.dense[l - 1], inputs, work.delta[l - 1], work.sums.data());
  });
  AddGradients(layer, tiles.size(), gradient);
}

double SelectorProblem::Evaluate(std::span<const int64_t> tiles,
                                 std::span<const double> parameters,
                                 std::span<double> gradient) {
  Reserve(tiles.size());
  const double loss = Loss(tiles, parameters);
  double by_bias = 0.0;
  for (size_t t = 0; t < tiles.size(); ++t) {
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      by_bias += static_cast<double>(work_[t].scores[kTileVoxels + v]);
    }
  }
  gradient[static_cast<size_t>(shape_.bias())] = -by_bias;
  gradient[static_cast<size_t>(shape_.bias()) + 1] = by_bias;
  for (int layer = kHiddenLayers; layer >= 0; --layer) {
    LayerBack(layer, tiles, parameters, gradient);
  }
  return loss;
}

}  // namespace segcal
