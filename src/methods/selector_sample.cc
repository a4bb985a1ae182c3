// SPDX-License-Identifier: Apache-2.0
#include "methods/selector_sample.h"

#include "data/sample.h"
#include "methods/selector_network.h"

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
  const TileSample drawn = SampleTiles(stream, pooling, max_voxels, seed);
  SelectorSample sample(stream.dataset().num_classes());
  EmitBuffer buffer;
  BaseDecisions decisions;
  std::shared_ptr<const CaseReader> reader;
  std::unique_ptr<BoundCalibrator> bound;
  for (int64_t t = 0; t < drawn.num_tiles(); ++t) {
    if (t == 0 || drawn.case_of(t) != drawn.case_of(t - 1)) {
      bound.reset();
      reader = stream.Open(drawn.case_of(t));
      bound = base.Bind(*reader, pooling);
    }
    const Tile& tile = drawn.tile(t);
    float* features = buffer.Reserve(tile.num_classes).probs;
    SelectorFeatures(tile, features);
    const uint16_t* decision = decisions.Of(tile, base, *bound);
    for (int64_t v = 0; v < tile.count; ++v) {
      if (tile.labels[v] == kNoLabel) continue;
      sample.Add(features + v, tile.labels[v] != decision[v]);
    }
  }
  return sample;
}

}  // namespace segcal
