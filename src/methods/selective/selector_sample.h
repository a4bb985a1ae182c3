// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.h"
#include "core/sum_bytes.h"
#include "data/stream.h"
#include "methods/selective/base_decision.h"

namespace segcal {

// Labelled voxels with what the selector sees of them and whether the decision was wrong, packed
// into full tiles: voxels without label leave no gaps. What does not fill a tile is left out.
class SelectorSample {
 public:
  explicit SelectorSample(int64_t num_classes = 0) : num_classes_(num_classes) {}

  // Features of one voxel, kTileVoxels apart.
  void Add(const float* features, bool wrong);
  void Append(const SelectorSample& other);

  // Also what does not fill a tile.
  void Pack(SumWriter* out) const;
  void Unpack(SumReader* in);

  int64_t num_classes() const noexcept { return num_classes_; }
  int64_t num_tiles() const noexcept { return voxels_ / kTileVoxels; }
  int64_t num_voxels() const noexcept { return num_tiles() * kTileVoxels; }
  const float* features(int64_t tile) const noexcept { return At(tile).features; }
  const uint8_t* wrong(int64_t tile) const noexcept { return At(tile).wrong; }
  int64_t num_wrong(int64_t tile) const noexcept { return At(tile).num_wrong; }
  int64_t num_wrong() const noexcept;

 private:
  struct Packed {
    AlignedBuffer memory;
    float* features = nullptr;
    uint8_t* wrong = nullptr;
    int64_t num_wrong = 0;
  };
  const Packed& At(int64_t tile) const noexcept { return tiles_[static_cast<size_t>(tile)]; }

  int64_t num_classes_;
  int64_t voxels_ = 0;
  std::vector<Packed> tiles_;
};

// The labelled ones of at most max_voxels voxels, as many tiles of every case (at least one; see
// data/sample.h) and an eighth of the stream's memory at most, judged by the decision of `base`.
SelectorSample DrawSelectorSample(const CaseStream& stream,
                                  const Pooling& pooling,
                                  const Calibrator& base,
                                  int64_t max_voxels,
                                  uint64_t seed);

}  // namespace segcal
