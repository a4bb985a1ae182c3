// SPDX-License-Identifier: Apache-2.0
#pragma once

// Members to pool in tests of kernels/pool.

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/half.h"
#include "kernels/pool.h"
#include "kernels/tiles_for_test.h"

namespace segcal {

inline const double kProbFloor = std::log(1e-8);

struct Pooled {
  AlignedArray<float> logits;
  AlignedArray<double> offset;
  AlignedArray<uint16_t> decision;
  PoolStatus status;

  Pooled(std::span<const MemberRows> members,
         int64_t num_classes,
         int64_t count,
         const PoolOptions& options)
      : logits(num_classes * kTileVoxels), offset(kTileVoxels), decision(kTileVoxels) {
    AlignedArray<std::byte> scratch(PoolScratchBytes(num_classes));
    // Whatever was in the buffers must not matter.
    std::fill_n(logits.data(), logits.size(), 123.0f);
    std::fill_n(decision.data(), kTileVoxels, uint16_t{999});
    std::fill_n(offset.data(), kTileVoxels, -7.0);
    const PoolOutput out{logits.data(), offset.data(), decision.data()};
    status = PoolTile(members, num_classes, count, options, scratch.data(), out);
  }

  bool operator==(const Pooled& other) const {
    return std::equal(logits.data(), logits.data() + logits.size(), other.logits.data()) &&
           std::equal(offset.data(), offset.data() + kTileVoxels, other.offset.data()) &&
           std::equal(decision.data(), decision.data() + kTileVoxels, other.decision.data());
  }
};

// A member's values in some type and layout; exactly `count` voxels are allocated, so that reading
// past them is caught by the address sanitizer.
struct Member {
  std::vector<uint16_t> halves;
  std::vector<BFloat16> bfloats;
  std::vector<float> floats;
  std::vector<double> doubles;
  MemberRows rows;

  Member(const std::vector<double>& values,
         int64_t num_classes,
         int64_t count,
         DType dtype,
         bool last) {
    rows = {.data = nullptr,
            .dtype = dtype,
            .class_stride = last ? 1 : count,
            .voxel_stride = last ? num_classes : 1};
    halves.resize(values.size());
    bfloats.resize(values.size());
    floats.resize(values.size());
    doubles.resize(values.size());
    for (int64_t c = 0; c < num_classes; ++c) {
      for (int64_t v = 0; v < count; ++v) {
        const auto i = static_cast<size_t>(c * rows.class_stride + v * rows.voxel_stride);
        doubles[i] = values[static_cast<size_t>(c * count + v)];
        floats[i] = static_cast<float>(doubles[i]);
        halves[i] = HalfFromFloat(floats[i]);
        bfloats[i] = BFloatFromFloat(floats[i]);
      }
    }
    if (dtype == DType::kF16) rows.data = halves.data();
    if (dtype == DType::kBF16) rows.data = bfloats.data();
    if (dtype == DType::kF32) rows.data = floats.data();
    if (dtype == DType::kF64) rows.data = doubles.data();
  }
};

// Multiples of 2^-6 below 32: the same number in float16, float32 and float64.
inline std::vector<double> CoarseLogits(uint64_t seed, int64_t size) {
  Rng rng(seed, 1);
  std::vector<double> values(static_cast<size_t>(size));
  for (double& x : values) x = std::round(512.0 * (rng.Uniform() - 0.5)) / 64.0;
  return values;
}

// Rows summing to one up to float16 rounding, some entries 0.
inline std::vector<double> CoarseProbs(uint64_t seed, int64_t num_classes, int64_t count) {
  Rng rng(seed, 2);
  std::vector<double> values(static_cast<size_t>(num_classes * count));
  for (int64_t v = 0; v < count; ++v) {
    std::vector<double> row(static_cast<size_t>(num_classes));
    double sum = 0.0;
    for (double& p : row) sum += p = rng.Uniform() < 0.2 ? 0.0 : rng.Uniform();
    if (sum == 0.0) sum = row[0] = 1.0;
    for (int64_t c = 0; c < num_classes; ++c) {
      const float p = static_cast<float>(row[static_cast<size_t>(c)] / sum);
      values[static_cast<size_t>(c * count + v)] =
          static_cast<double>(FloatFromHalf(HalfFromFloat(p)));
    }
  }
  return values;
}

inline std::vector<double> ValuesFor(InputKind input,
                                     uint64_t seed,
                                     int64_t num_classes,
                                     int64_t count) {
  if (input == InputKind::kProbs) return CoarseProbs(seed, num_classes, count);
  std::vector<double> values = CoarseLogits(seed, num_classes * count);
  if (input == InputKind::kLogProbs) {
    for (double& x : values) x -= 4.0;
  }
  return values;
}

inline PoolOptions OptionsFor(InputKind input, PoolRule rule) {
  return {.input = input, .rule = rule, .floor = input == InputKind::kProbs ? kProbFloor : -87.0};
}

}  // namespace segcal
