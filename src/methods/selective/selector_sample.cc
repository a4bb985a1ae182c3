// SPDX-License-Identifier: Apache-2.0
#include "methods/selective/selector_sample.h"

#include <algorithm>
#include <memory>

#include "data/sample.h"
#include "methods/selective/selector_network.h"

namespace segcal {

void SelectorSample::Add(const float* features, bool wrong) {
  const int64_t lane = voxels_ % kTileVoxels;
  if (lane == 0) {
    Packed& fresh = tiles_.emplace_back();
    std::byte* memory =
        fresh.memory.Reserve(kTileVoxels * (num_classes_ * int64_t{sizeof(float)} + 1));
    fresh.features = reinterpret_cast<float*>(memory);
    fresh.wrong = reinterpret_cast<uint8_t*>(fresh.features + num_classes_ * kTileVoxels);
  }
  Packed& tile = tiles_.back();
  for (int64_t c = 0; c < num_classes_; ++c) {
    tile.features[c * kTileVoxels + lane] = features[c * kTileVoxels];
  }
  tile.wrong[lane] = wrong ? 1 : 0;
  tile.num_wrong += wrong ? 1 : 0;
  ++voxels_;
}

int64_t SelectorSample::num_wrong() const noexcept {
  int64_t wrong = 0;
  for (int64_t t = 0; t < num_tiles(); ++t) wrong += num_wrong(t);
  return wrong;
}

SelectorSample DrawSelectorSample(const CaseStream& stream,
                                  const Pooling& pooling,
                                  const Calibrator& base,
                                  int64_t max_voxels,
                                  uint64_t seed) {
  SelectorSample sample(stream.dataset().num_classes());
  const int64_t affordable =
      stream.memory() / 8 / (sample.num_classes() * int64_t{sizeof(float)} + 1);
  const int64_t per_case = std::min(max_voxels, affordable) / stream.num_cases();
  EmitBuffer buffer;
  BaseDecisions decisions;
  // Case by case: a base may have to be bound to its case, and only features are kept.
  for (int64_t c = 0; c < stream.num_cases(); ++c) {
    const std::unique_ptr<CaseStream> part = stream.Part({c});
    const TileSample drawn = SampleTiles(*part, pooling, per_case, seed + static_cast<uint64_t>(c));
    const std::shared_ptr<const CaseReader> reader = part->Open(0);
    const auto bound = base.Bind(*reader, pooling, MakeBindOptions(*part));
    for (int64_t t = 0; t < drawn.num_tiles(); ++t) {
      const Tile& tile = drawn.tile(t);
      float* features = buffer.Reserve(tile.num_classes).probs;
      SelectorFeatures(tile, features);
      const uint16_t* decision = decisions.Of(tile, base, *bound);
      for (int64_t v = 0; v < tile.count; ++v) {
        if (tile.labels[v] == kNoLabel) continue;
        sample.Add(features + v, tile.labels[v] != decision[v]);
      }
    }
  }
  return sample;
}

}  // namespace segcal
