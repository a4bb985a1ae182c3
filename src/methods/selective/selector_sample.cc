// SPDX-License-Identifier: Apache-2.0
#include "methods/selective/selector_sample.h"

#include <algorithm>
#include <memory>

#include "core/ranks.h"
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

void SelectorSample::Append(const SelectorSample& other) {
  for (int64_t v = 0; v < other.voxels_; ++v) {
    const Packed& tile = other.At(v / kTileVoxels);
    Add(tile.features + v % kTileVoxels, tile.wrong[v % kTileVoxels] != 0);
  }
}

void SelectorSample::Pack(SumWriter* out) const {
  out->Put(num_classes_);
  out->Put(voxels_);
  for (const Packed& tile : tiles_) {
    out->PutRow(tile.features, num_classes_ * kTileVoxels);
    out->PutRow(tile.wrong, kTileVoxels);
  }
}

void SelectorSample::Unpack(SumReader* in) {
  *this = SelectorSample(in->Take<int64_t>());
  std::vector<float> features(static_cast<size_t>(num_classes_ * kTileVoxels));
  std::vector<uint8_t> wrong(kTileVoxels);
  for (int64_t left = in->Take<int64_t>(); left > 0; left -= kTileVoxels) {
    in->TakeRow(features.data(), std::ssize(features));
    in->TakeRow(wrong.data(), kTileVoxels);
    for (int64_t v = 0; v < std::min(left, kTileVoxels); ++v)
      Add(features.data() + v, wrong[static_cast<size_t>(v)] != 0);
  }
}

int64_t SelectorSample::num_wrong() const noexcept {
  int64_t wrong = 0;
  for (int64_t t = 0; t < num_tiles(); ++t) wrong += num_wrong(t);
  return wrong;
}

namespace {

// Of one case: a base may have to be bound to it, and only features are kept.
SelectorSample DrawFromCase(const CaseStream& single,
                            const Pooling& pooling,
                            const Calibrator& base,
                            int64_t max_voxels,
                            uint64_t seed) {
  SelectorSample sample(single.dataset().num_classes());
  EmitBuffer buffer;
  BaseDecisions decisions;
  const TileSample drawn = SampleTilesOfCase(single, pooling, max_voxels, seed);
  const std::shared_ptr<const CaseReader> reader = single.Open(0);
  const auto bound = base.Bind(*reader, pooling, MakeBindOptions(single));
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
  return sample;
}

}  // namespace

SelectorSample DrawSelectorSample(const CaseStream& stream,
                                  const Pooling& pooling,
                                  const Calibrator& base,
                                  int64_t max_voxels,
                                  uint64_t seed) {
  SelectorSample sample(stream.dataset().num_classes());
  const int64_t affordable =
      stream.memory() / 8 / (sample.num_classes() * int64_t{sizeof(float)} + 1);
  const int64_t per_case = std::min(max_voxels, affordable) / stream.num_cases();
  // One after the other: each is read by all threads.
  const auto parts = MakeAndShare<SelectorSample>(
      "sample voxels",
      stream.num_cases(),
      /*threads=*/1,
      [&](int64_t c) { return stream.IsOwn(c); },
      [&](int64_t c) {
        return DrawFromCase(
            *stream.Part({c}), pooling, base, per_case, seed + static_cast<uint64_t>(c));
      });
  for (const SelectorSample& part : parts) sample.Append(part);
  return sample;
}

}  // namespace segcal
