// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/aligned.h"
#include "core/rng.h"
#include "kernels/dispatch.h"
#include "kernels/tile.h"

// Data for the tests of kernels.
namespace segcal {

// Aligned memory of a fixed number of elements, zero at first.
template <class T>
class AlignedArray {
 public:
  explicit AlignedArray(int64_t size) : size_(size) {
    data_ = reinterpret_cast<T*>(buffer_.Reserve(size * static_cast<int64_t>(sizeof(T))));
    std::fill_n(data_, size, T{});
  }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  int64_t size() const noexcept { return size_; }
  T& operator[](int64_t i) noexcept { return data_[i]; }
  const T& operator[](int64_t i) const noexcept { return data_[i]; }

 private:
  AlignedBuffer buffer_;
  int64_t size_;
  T* data_;
};

// A tile with logits in [-spread, 0], a winner at 0 in every voxel, a fifth of the voxels without
// label, `count` voxels and padding as PoolTile leaves it.
struct RandomTile {
  AlignedArray<float> logits;
  AlignedArray<double> offset;
  AlignedArray<uint16_t> decision;
  AlignedArray<int32_t> labels;
  Tile tile;

  RandomTile(uint64_t seed, int64_t num_classes, int64_t count, double spread)
      : logits(num_classes * kTileVoxels),
        offset(kTileVoxels),
        decision(kTileVoxels),
        labels(kTileVoxels) {
    std::fill_n(labels.data(), kTileVoxels, kNoLabel);
    Rng rng(seed, 0);
    for (int64_t v = 0; v < count; ++v) {
      for (int64_t c = 0; c < num_classes; ++c) {
        logits[c * kTileVoxels + v] = static_cast<float>(-spread * rng.Uniform());
      }
      decision[v] = static_cast<uint16_t>(rng.Below(num_classes));
      logits[decision[v] * kTileVoxels + v] = 0.0f;
      offset[v] = 20.0 * rng.Normal();
      if (rng.Uniform() > 0.2) labels[v] = static_cast<int32_t>(rng.Below(num_classes));
      if (rng.Uniform() > 0.4 && labels[v] != kNoLabel) labels[v] = decision[v];
    }
    tile = {.num_classes = num_classes,
            .count = count,
            .first_voxel = 0,
            .logits = logits.data(),
            .offset = offset.data(),
            .decision = decision.data(),
            .labels = labels.data()};
  }
};

// Runs body() once for every instruction set of the machine, then goes back to the first.
template <class Body>
void ForEveryTarget(Body body) {
  const std::string before = ActiveTarget();
  for (const std::string& target : SupportedTargets()) {
    PinTarget(target);
    body(target);
  }
  PinTarget(before);
}

}  // namespace segcal
