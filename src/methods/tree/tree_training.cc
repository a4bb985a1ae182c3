// SPDX-License-Identifier: Apache-2.0
#include "methods/tree/tree_training.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random_order.h"
#include "core/ranks.h"

namespace segcal {
namespace {

constexpr uint64_t kTreeOrderStream = 0x4F52444552;

// Inputs are taken to be at least this large: weights are in units of one over it, and those on
// logits of 1e-9 would be past the 1e6 that a model file may hold.
constexpr double kLeastSize = 1e-3;

// Root mean square of a plane over the voxels of the patches, 1 where all is 0.
double RootMeanSquare(const std::vector<std::vector<TreePatch>>& cases,
                      PaddedPlane TreeStrip::*plane) {
  double sum = 0.0;
  double count = 0.0;
  for (const auto& patches : cases) {
    for (const TreePatch& patch : patches) {
      const PaddedPlane scores = patch.Strip(0).*plane;
      for (int64_t c = 0; c < scores.channels; ++c) {
        for (int64_t y = 0; y < patch.rows(); ++y) {
          const float* row = scores.data + c * scores.channel_stride +
                             (y + kTreeHalo) * scores.row_stride + kTreeHalo;
          for (int64_t x = 0; x < patch.columns(); ++x)
            sum += static_cast<double>(row[x]) * static_cast<double>(row[x]);
        }
      }
      count += static_cast<double>(scores.channels * patch.voxels());
    }
  }
  const double mean = count > 0.0 ? sum / count : 0.0;
  return mean > 0.0 ? std::max(std::sqrt(mean), kLeastSize) : 1.0;
}

// By parameter, r sqrt(25 C) for weights and 1 for biases.
std::vector<double> FilterScales(const TreeShape& shape, double scores, double image) {
  std::vector<double> scale;
  const auto add_filter = [&](int64_t channels, double rms) {
    const int64_t taps = kTreeTaps * channels;
    scale.insert(
        scale.end(), static_cast<size_t>(taps), rms * std::sqrt(static_cast<double>(taps)));
    scale.push_back(1.0);
  };
  for (int64_t f = 0; f < shape.score_filters(); ++f) add_filter(shape.classes, scores);
  if (shape.has_image()) add_filter(shape.image_channels, image);
  return scale;
}

template <class Visit>
void ForEachStrip(const TreePatch& patch, const Visit& visit) {
  for (int64_t y = 0; y < patch.rows(); y += kStripRows) visit(patch.Strip(y), y);
}

// Adds the loss of a strip that starts at row y of the patch.
void AddStripLoss(const TreePatch& patch,
                  const TreeStrip& strip,
                  int64_t y,
                  const float* temperatures,
                  float* slopes,
                  TreeLoss* total) {
  AddTreeLoss(strip, patch.Labels(y), kPatchColumns, patch.columns(), temperatures, slopes, total);
}

// Adds the loss of a patch at one temperature for all its voxels.
void AddLossAt(const TreePatch& patch, float temperature, TreeLoss* total) {
  alignas(64) float temperatures[kStripVoxels];
  alignas(64) float slopes[kStripVoxels];
  std::fill_n(temperatures, kStripVoxels, temperature);
  ForEachStrip(patch, [&](const TreeStrip& strip, int64_t y) {
    AddStripLoss(patch, strip, y, temperatures, slopes, total);
  });
}

// `sum` with the temperatures of a strip of the patch.
double AddTemperatures(const TreeStrip& strip,
                       const TreePatch& patch,
                       const TreeValues& values,
                       double sum) {
  for (int64_t y = 0; y < strip.rows; ++y) {
    const float* row = values.temperature + y * kStripColumns;
    sum = std::accumulate(row, row + patch.columns(), sum);
  }
  return sum;
}

int64_t CountVoxels(const std::vector<const TreePatch*>& patches) {
  int64_t voxels = 0;
  for (const TreePatch* patch : patches) voxels += patch->voxels();
  return voxels;
}

// work(patch) for all patches, dealt in turns to the ranks that train together, who get all values.
template <class Value, class Work>
std::vector<Value> ForPatches(const std::vector<const TreePatch*>& patches,
                              int threads,
                              const Work& work) {
  return MakeAndShare<Value>(
      "train",
      std::ssize(patches),
      threads,
      [](int64_t i) { return i % NumRanks() == ThisRank(); },
      [&](int64_t i) { return work(*patches[static_cast<size_t>(i)]); });
}

// The gradient of one patch, with its loss where both come together, or the sum of its temperatures
// where it is theirs.
struct PatchGradient {
  TreeLoss loss;
  double temperature = 0.0;
  std::vector<double> gradient;

  void Pack(SumWriter* out) const {
    out->Put(loss);
    out->Put(temperature);
    out->Put(std::ssize(gradient));
    out->PutRow(gradient.data(), std::ssize(gradient));
  }
  void Unpack(SumReader* in) {
    loss = in->Take<TreeLoss>();
    temperature = in->Take<double>();
    gradient.resize(static_cast<size_t>(in->TakeCount()));
    in->TakeRow(gradient.data(), std::ssize(gradient));
  }
};

// Sums of parts in their order, whoever computed them.
TreeLoss AddUp(const std::vector<TreeLoss>& parts) {
  TreeLoss total;
  for (const TreeLoss& part : parts) {
    total.count += part.count;
    total.loss += part.loss;
    total.slope += part.slope;
  }
  return total;
}

std::vector<double> AddUp(const std::vector<PatchGradient>& parts) {
  std::vector<double> total = parts.front().gradient;
  for (size_t p = 1; p < parts.size(); ++p) {
    for (size_t i = 0; i < total.size(); ++i) total[i] += parts[p].gradient[i];
  }
  return total;
}

}  // namespace

TreeTraining::TreeTraining(const TreeData& data, const TreeTrainingOptions& options)
    : options_(options),
      scale_(FilterScales(options.shape,
                          RootMeanSquare(data.training, &TreeStrip::scores),
                          RootMeanSquare(data.training, &TreeStrip::image))),
      batch_(options.whole_case ? 1 : options.batch) {
  const auto add = [&](const auto& cases, std::vector<Unit>* units, int64_t* voxels) {
    for (const auto& patches : cases) {
      Unit of_case;
      int64_t labelled = 0;
      for (const TreePatch& patch : patches) {
        labelled += patch.labelled();
        *voxels += patch.voxels();
        if (options.whole_case) of_case.push_back(&patch);
        if (!options.whole_case && patch.labelled() > 0) units->push_back({&patch});
      }
      if (options.whole_case && labelled > 0) units->push_back(std::move(of_case));
    }
  };
  add(data.training, &training_, &training_voxels_);
  add(data.validation, &validation_, &validation_voxels_);
  if (validation_.empty()) {
    validation_ = training_;
    validation_voxels_ = training_voxels_;
  }
  for (const Unit& unit : training_) unit_voxels_ += CountVoxels(unit);
  const auto units = static_cast<double>(training_.size());
  const double share =
      static_cast<double>(options.voxels) / static_cast<double>(std::max<int64_t>(1, unit_voxels_));
  units_per_epoch_ = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(units * share)),
                                         std::min<int64_t>(1, static_cast<int64_t>(units)),
                                         static_cast<int64_t>(units));
}

int64_t TreeTraining::epoch_voxels() const noexcept {
  if (training_.empty()) return 0;
  return unit_voxels_ * units_per_epoch_ / static_cast<int64_t>(training_.size());
}

std::vector<double> TreeTraining::Weights(std::span<const double> parameters) const {
  std::vector<double> weights(parameters.begin(), parameters.end());
  for (size_t p = 0; p < weights.size(); ++p) weights[p] /= scale_[p];
  return weights;
}

std::vector<double> TreeTraining::Parameters(std::span<const double> weights) const {
  std::vector<double> parameters(weights.begin(), weights.end());
  for (size_t p = 0; p < parameters.size(); ++p) parameters[p] *= scale_[p];
  return parameters;
}

TreeWeights TreeTraining::Packed(std::span<const double> parameters) const {
  TreeWeights weights(options_.shape);
  weights.Pack(Weights(parameters));
  return weights;
}

// A permutation of the units that the epoch alone decides on.
const std::vector<int64_t>& TreeTraining::EpochOrder(int64_t epoch) {
  if (epoch != ordered_epoch_) {
    order_ = RandomOrder(static_cast<int64_t>(training_.size()),
                         Rng(options_.seed ^ kTreeOrderStream, static_cast<uint64_t>(epoch)));
    ordered_epoch_ = epoch;
  }
  return order_;
}

double TreeTraining::Step(int64_t epoch,
                          int64_t step,
                          std::span<const double> parameters,
                          std::span<double> gradient) {
  const std::vector<int64_t>& order = EpochOrder(epoch);
  Unit patches;
  for (int64_t i = step * batch_; i < std::min((step + 1) * batch_, units_per_epoch_); ++i) {
    const Unit& unit = training_[static_cast<size_t>(order[static_cast<size_t>(i)])];
    patches.insert(patches.end(), unit.begin(), unit.end());
  }
  const TreeWeights weights = Packed(parameters);
  const Sums sums = options_.whole_case ? WholeStep(weights, patches) : LocalStep(weights, patches);
  weights.AddUnpacked(sums.gradient, gradient);
  const double share = 1.0 / static_cast<double>(sums.loss.count);
  for (size_t p = 0; p < gradient.size(); ++p) gradient[p] *= share / scale_[p];
  return sums.loss.loss * share;
}

TreeTraining::Sums TreeTraining::LocalStep(const TreeWeights& weights, const Unit& patches) const {
  const auto parts =
      ForPatches<PatchGradient>(patches, options_.threads, [&](const TreePatch& patch) {
        PatchGradient own;
        own.gradient.assign(static_cast<size_t>(weights.packed_size()), 0.0);
        TreeValues values;
        alignas(64) float slopes[kStripVoxels];
        ForEachStrip(patch, [&](const TreeStrip& strip, int64_t y) {
          TreeTemperaturesAndSlopes(strip, weights, &values);
          AddStripLoss(patch, strip, y, values.temperature, slopes, &own.loss);
          AddTreeGradient(strip, weights, slopes, &values, own.gradient.data());
        });
        return own;
      });
  std::vector<TreeLoss> losses;
  for (const PatchGradient& part : parts) losses.push_back(part.loss);
  return {.loss = AddUp(losses), .gradient = AddUp(parts)};
}

double TreeTraining::MeanTemperature(const TreeWeights& weights, const Unit& patches) const {
  const auto sums = ForPatches<double>(patches, options_.threads, [&](const TreePatch& patch) {
    double sum = 0.0;
    TreeValues values;
    ForEachStrip(patch, [&](const TreeStrip& strip, int64_t) {
      TreeTemperatures(strip, weights, &values);
      sum = AddTemperatures(strip, patch, values, sum);
    });
    return sum;
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(CountVoxels(patches));
}

TreeLoss TreeTraining::LossAt(float temperature, const Unit& patches) const {
  return AddUp(ForPatches<TreeLoss>(patches, options_.threads, [&](const TreePatch& patch) {
    TreeLoss loss;
    AddLossAt(patch, temperature, &loss);
    return loss;
  }));
}

// One sweep for the mean and how each weight moves it, then the loss at it (IT2).
TreeTraining::Sums TreeTraining::WholeStep(const TreeWeights& weights, const Unit& patches) const {
  const auto parts =
      ForPatches<PatchGradient>(patches, options_.threads, [&](const TreePatch& patch) {
        PatchGradient own;
        own.gradient.assign(static_cast<size_t>(weights.packed_size()), 0.0);
        TreeValues values;
        alignas(64) float ones[kStripVoxels] = {};
        for (int64_t y = 0; y < kStripRows; ++y)
          std::fill_n(ones + y * kStripColumns, patch.columns(), 1.0f);
        ForEachStrip(patch, [&](const TreeStrip& strip, int64_t) {
          TreeTemperaturesAndSlopes(strip, weights, &values);
          own.temperature = AddTemperatures(strip, patch, values, own.temperature);
          AddTreeGradient(strip, weights, ones, &values, own.gradient.data());
        });
        return own;
      });
  const auto voxels = static_cast<double>(CountVoxels(patches));
  double sum = 0.0;
  for (const PatchGradient& part : parts) sum += part.temperature;
  Sums total{.loss = LossAt(static_cast<float>(sum / voxels), patches), .gradient = AddUp(parts)};
  for (double& g : total.gradient) g *= total.loss.slope / voxels;
  return total;
}

TreeLoss TreeTraining::Loss(const TreeWeights& weights, const Unit& patches) const {
  if (options_.whole_case)
    return LossAt(static_cast<float>(MeanTemperature(weights, patches)), patches);
  return AddUp(ForPatches<TreeLoss>(patches, options_.threads, [&](const TreePatch& patch) {
    TreeLoss loss;
    TreeValues values;
    alignas(64) float slopes[kStripVoxels];
    ForEachStrip(patch, [&](const TreeStrip& strip, int64_t y) {
      TreeTemperatures(strip, weights, &values);
      AddStripLoss(patch, strip, y, values.temperature, slopes, &loss);
    });
    return loss;
  }));
}

double TreeTraining::Validate(std::span<const double> parameters) {
  const TreeWeights weights = Packed(parameters);
  TreeLoss total;
  Unit patches;
  for (const Unit& unit : validation_) {
    if (options_.whole_case) {
      const TreeLoss loss = Loss(weights, unit);
      total.count += loss.count;
      total.loss += loss.loss;
    } else {
      patches.push_back(unit.front());
    }
  }
  if (!options_.whole_case) total = Loss(weights, patches);
  return total.loss / static_cast<double>(total.count);
}

double TreeTraining::IdentityLoss() const {
  TreeLoss total;
  for (const Unit& unit : validation_) {
    for (const TreePatch* patch : unit) AddLossAt(*patch, 1.0f, &total);
  }
  return total.loss / static_cast<double>(total.count);
}

}  // namespace segcal
