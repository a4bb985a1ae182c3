// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/rng.h"
#include "metrics/metric.h"

namespace segcal::testing {

// One voxel as a metric sees it.
struct Voxel {
  std::vector<float> probs;
  int32_t label = kNoLabel;
  uint16_t decision = 0;
  double free_energy = 0.0;
  int32_t squared_distance = 0;
  double squared_length = 0.0;

  // Plain twins of what the pipeline puts into a tile.
  uint16_t Predicted() const {
    size_t best = 0;
    for (size_t c = 1; c < probs.size(); ++c) best = probs[c] > probs[best] ? c : best;
    return static_cast<uint16_t>(best);
  }
  float Confidence() const { return probs[Predicted()]; }
  float LogLabel() const {
    return label == kNoLabel ? 0.0f : std::log(probs[static_cast<size_t>(label)]);
  }
  bool Correct() const { return label == Predicted(); }
};

// A voxel of two classes whose top label has the given confidence; below 1/2 the rest is lost,
// which calibration errors do not see.
inline Voxel TopLabelVoxel(float confidence, bool correct) {
  return {.probs = {confidence, confidence < 0.5f ? 0.0f : 1.0f - confidence},
          .label = correct ? 0 : 1};
}

// A tile that owns its memory; voxels not set take no part.
class OwnedTile {
 public:
  explicit OwnedTile(int64_t num_classes, int64_t first_voxel = 0)
      : num_classes_(num_classes),
        first_voxel_(first_voxel),
        probs_(static_cast<size_t>(num_classes)) {
    for (int32_t& label : labels_.at) label = kNoLabel;
  }

  void Set(int64_t v, const Voxel& voxel) {
    for (size_t c = 0; c < probs_.size(); ++c) probs_[c].at[v] = voxel.probs[c];
    log_label_.at[v] = voxel.LogLabel();
    confidence_.at[v] = voxel.Confidence();
    predicted_.at[v] = voxel.Predicted();
    decision_.at[v] = voxel.decision;
    labels_.at[v] = voxel.label;
    free_energy_.at[v] = voxel.free_energy;
    squared_distance_.at[v] = voxel.squared_distance;
    squared_length_.at[v] = voxel.squared_length;
  }

  EvalTile View() const {
    return {.num_classes = num_classes_,
            .probs = probs_[0].at,
            .log_label = log_label_.at,
            .confidence = confidence_.at,
            .predicted = predicted_.at,
            .decision = decision_.at,
            .labels = labels_.at,
            .free_energy = free_energy_.at,
            .first_voxel = first_voxel_,
            .squared_distance = squared_distance_.at,
            .squared_length = squared_length_.at};
  }

 private:
  template <class T>
  struct alignas(64) Row {
    T at[kTileVoxels] = {};
  };

  int64_t num_classes_;
  int64_t first_voxel_;
  std::vector<Row<float>> probs_;
  Row<float> log_label_;
  Row<float> confidence_;
  Row<uint16_t> predicted_;
  Row<uint16_t> decision_;
  Row<int32_t> labels_;
  Row<double> free_energy_;
  Row<int32_t> squared_distance_;
  Row<double> squared_length_;
};

// Voxels laid out in tiles, in order.
inline std::vector<OwnedTile> ToTiles(const std::vector<Voxel>& voxels) {
  std::vector<OwnedTile> tiles;
  for (size_t i = 0; i < voxels.size(); ++i) {
    const auto lane = static_cast<int64_t>(i) % kTileVoxels;
    if (lane == 0)
      tiles.emplace_back(static_cast<int64_t>(voxels[i].probs.size()), static_cast<int64_t>(i));
    tiles.back().Set(lane, voxels[i]);
  }
  return tiles;
}

// Softmax of random logits; labels follow the probabilities loosely, about one in eight is missing,
// and about one decision in eight differs from the prediction.
inline std::vector<Voxel> RandomVoxels(uint64_t seed, int64_t num_voxels, int64_t num_classes) {
  Rng rng(seed, 0);
  std::vector<Voxel> voxels(static_cast<size_t>(num_voxels));
  for (Voxel& voxel : voxels) {
    std::vector<double> weights(static_cast<size_t>(num_classes));
    double sum = 0.0;
    for (double& w : weights) sum += w = std::exp(3.0 * rng.Normal());
    for (const double w : weights) voxel.probs.push_back(static_cast<float>(w / sum));
    const auto any_class = [&] { return rng.Below(num_classes); };
    voxel.label = static_cast<int32_t>(rng.Below(3) == 0 ? any_class() : voxel.Predicted());
    if (rng.Below(8) == 0) voxel.label = kNoLabel;
    voxel.decision = static_cast<uint16_t>(rng.Below(8) == 0 ? any_class() : voxel.Predicted());
    voxel.free_energy = 5.0 + std::log(sum);
    voxel.squared_distance = static_cast<int32_t>(rng.Below(300));
    voxel.squared_length = 2.25 * voxel.squared_distance;
  }
  return voxels;
}

inline const MetricInfo& Family(const std::string& name) {
  for (const MetricInfo* info : Metrics()) {
    if (name == info->name) return *info;
  }
  return *Metrics().at(Metrics().size());  // throws: no such family
}

// A case of one axis.
inline VoxelGrid LineOf(size_t num_voxels) {
  return {.size = {1, 1, std::max<int64_t>(1, static_cast<int64_t>(num_voxels))}};
}

// A family's accumulator after all voxels, in one block.
inline std::unique_ptr<MetricAccumulator> Accumulate(const std::string& family,
                                                     const std::vector<Voxel>& voxels,
                                                     const OptionMap& options = {},
                                                     int64_t background = -1) {
  const int64_t num_classes = voxels.empty() ? 2 : static_cast<int64_t>(voxels[0].probs.size());
  auto accumulator = Family(family).make({num_classes, background, LineOf(voxels.size())}, options);
  for (const OwnedTile& tile : ToTiles(voxels)) accumulator->Add(tile.View());
  accumulator->Flush();
  return accumulator;
}

inline MetricValue Number(const MetricAccumulator& accumulator, const std::string& name) {
  for (const MetricValue& number : accumulator.Finish()) {
    if (number.name == name) return number;
  }
  return {.name = "missing", .value = std::numeric_limits<double>::infinity(), .per_class = {}};
}

// The diagram of the confidence over all voxels.
inline std::vector<ReliabilityRow> TopLabelBins(const MetricAccumulator& accumulator) {
  const std::vector<Diagram> diagrams = accumulator.Diagrams();
  const Diagram* all = FindDiagram(diagrams, DiagramKind::kReliability, "top_label");
  return all == nullptr ? std::vector<ReliabilityRow>() : ReliabilityRows(*all);
}

inline double Value(const MetricAccumulator& accumulator, const std::string& name) {
  return Number(accumulator, name).value;
}

// The bits of every number, so that NaN equals NaN and -0 differs from 0.
inline std::vector<uint64_t> Bits(const MetricAccumulator& accumulator) {
  std::vector<double> values;
  for (const MetricValue& number : accumulator.Finish()) {
    values.push_back(number.value);
    values.insert(values.end(), number.per_class.begin(), number.per_class.end());
  }
  for (const Diagram& diagram : accumulator.Diagrams()) {
    for (const std::vector<double>& row : diagram.rows)
      values.insert(values.end(), row.begin(), row.end());
  }
  for (const CellRow& cell : accumulator.Cells()) {
    values.push_back(static_cast<double>(cell.count));
    values.push_back(static_cast<double>(cell.correct));
    values.push_back(cell.confidence_sum);
  }
  std::vector<uint64_t> bits(values.size());
  if (!values.empty()) std::memcpy(bits.data(), values.data(), values.size() * sizeof(double));
  return bits;
}

inline std::string Packed(const MetricAccumulator& accumulator) {
  SumWriter out;
  accumulator.Pack(&out);
  return out.Bytes();
}

inline void Unpack(const std::string& bytes, MetricAccumulator* accumulator) {
  SumReader in(bytes);
  accumulator->Unpack(&in);
  in.ExpectEnd();
}

// acc <- acc merged with itself `times` times: 2^times as many voxels.
inline void Double(MetricAccumulator* accumulator, int times) {
  for (int i = 0; i < times; ++i) accumulator->Merge(*accumulator);
}

}  // namespace segcal::testing
