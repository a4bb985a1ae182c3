// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.h"
#include "core/sum_bytes.h"
#include "methods/tree/tree_map.h"

namespace segcal {

// A part of a plane with its halo, in memory: up to kPatchRows x kPatchColumns voxels.
inline constexpr int64_t kPatchRows = kBoxRows;
inline constexpr int64_t kPatchColumns = kStripColumns;

class TreePatch {
 public:
  TreePatch() = default;  // of no voxels
  // Copies the part of a box at column `x` of the box; `image` may be null.
  TreePatch(const PlaneBox& box,
            int64_t x,
            const PaddedPlane& scores,
            const PaddedPlane* image,
            const std::vector<int32_t>& labels);

  int64_t rows() const noexcept { return rows_; }
  int64_t columns() const noexcept { return columns_; }
  int64_t voxels() const noexcept { return rows_ * columns_; }
  int64_t labelled() const noexcept { return labelled_; }
  // Rows [y, y + kStripRows) as far as there are any.
  TreeStrip Strip(int64_t y) const noexcept;
  // Labels from row y on, kPatchColumns apart.
  const int32_t* Labels(int64_t y) const noexcept { return labels_.data() + y * kPatchColumns; }

  // Bytes that one patch takes.
  static int64_t Bytes(int64_t channels);

  void Pack(SumWriter* out) const;
  void Unpack(SumReader* in);

 private:
  // Room for the planes of so many channels.
  float* Reserve(int64_t score_channels, int64_t image_channels);

  int64_t rows_ = 0;
  int64_t columns_ = 0;
  int64_t labelled_ = 0;
  AlignedBuffer memory_;
  PaddedPlane scores_;
  PaddedPlane image_;
  std::vector<int32_t> labels_;
};

struct PatchOptions {
  int64_t max_bytes = 0;
  uint64_t seed = 0;
  bool all_region = false;  // labels outside the region All (RG2) do not count
};

// Patches of all cases, [case][patch]: all of them, or where they pass max_bytes, about the same
// share of every case and at least one, drawn by the seed; where not even one of each fits, one of
// as many cases as do (at least one case), the others give none. One pass over the data;
// deterministic for any number of threads. Each rank (core/ranks.h) reads its own cases, and all
// have all patches.
std::vector<std::vector<TreePatch>> GatherPatches(const CaseStream& stream,
                                                  const TreeInput& input,
                                                  const PatchOptions& options);

}  // namespace segcal
