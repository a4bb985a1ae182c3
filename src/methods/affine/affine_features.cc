// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_features.h"

#include "kernels/affine.h"

namespace segcal {
namespace {

// The values of these voxels: in place, or gathered in `scratch` [kTileVoxels].
const float* ValuesAt(std::span<const int32_t> voxels, const float* row, float* scratch) {
  if (AreNeighbours(voxels)) return row + voxels.front();
  for (size_t i = 0; i < voxels.size(); ++i) scratch[i] = row[voxels[i]];
  return scratch;
}

void DivideRow(double scale, size_t count, float* row) {
  const auto factor = static_cast<float>(1.0 / scale);  // exact: a power of two
  for (size_t i = 0; i < count; ++i) row[i] *= factor;
}

void WriteShifted(const AffineShape& shape,
                  const Tile& tile,
                  std::span<const int32_t> voxels,
                  const float* log_norms,
                  const FeatureLanes& out) {
  const float* last = tile.logits + (tile.num_classes - 1) * kTileVoxels;
  alignas(64) double shift[kTileVoxels];
  for (size_t i = 0; i < voxels.size(); ++i) {
    const int32_t v = voxels[i];
    shift[i] = shape.space == AffineSpace::kRaw        ? tile.offset[v] - shape.centre
               : shape.space == AffineSpace::kLogProbs ? -static_cast<double>(log_norms[v])
                                                       : -static_cast<double>(last[v]);
    out.labels[i] = tile.labels[v];
  }
  float scratch[kTileVoxels];
  for (int64_t c = 0; c + 1 < shape.num_features(); ++c) {
    const float* from = ValuesAt(voxels, tile.logits + c * kTileVoxels, scratch);
    float* to = out.features + c * kTileVoxels;
    ShiftRow(from, shift, static_cast<int64_t>(voxels.size()), kMaxFeature, to);
    if (shape.scale != 1.0) DivideRow(shape.scale, voxels.size(), to);
  }
}

// The winner's shifted logit is zero, so the gaps are minus the others' logits.
void WriteGaps(const AffineShape& shape,
               int64_t expert,
               const Tile& tile,
               std::span<const int32_t> voxels,
               const FeatureLanes& out) {
  float scratch[kTileVoxels];
  for (int64_t k = 0; k < shape.num_rows(); ++k) {
    const int64_t c = ClassAt(shape, expert, k + 1);
    const float* from = ValuesAt(voxels, tile.logits + c * kTileVoxels, scratch);
    float* to = out.features + k * kTileVoxels;
    for (size_t i = 0; i < voxels.size(); ++i) to[i] = -from[i];
  }
  for (size_t i = 0; i < voxels.size(); ++i) {
    const int32_t label = tile.labels[voxels[i]];
    out.labels[i] = label == kNoLabel ? kNoLabel
                    : label == expert ? 0
                    : label < expert  ? label + 1
                                      : label;
  }
}

// Sorted descending, the decision first, equal logits in class order.
void WriteSortedGaps(
    int64_t expert, const Tile& tile, int64_t v, int64_t lane, const FeatureLanes& out) {
  uint16_t* order = out.order + lane * tile.num_classes;
  order[0] = static_cast<uint16_t>(expert);
  const auto logit = [&](int64_t c) { return tile.logits[c * kTileVoxels + v]; };
  int64_t filled = 1;
  for (int64_t c = 0; c < tile.num_classes; ++c) {
    if (c == expert) continue;
    // Insertion from the end: logits of neighbouring classes are in no order, and C is small.
    int64_t k = filled++;
    for (; k > 1 && logit(order[k - 1]) < logit(c); --k) order[k] = order[k - 1];
    order[k] = static_cast<uint16_t>(c);
  }
  float above = 0.0f;
  out.labels[lane] = tile.labels[v] == kNoLabel ? kNoLabel : 0;
  for (int64_t k = 1; k < tile.num_classes; ++k) {
    const float here = logit(order[k]);
    out.features[(k - 1) * kTileVoxels + lane] = above - here;
    above = here;
    if (tile.labels[v] == order[k]) out.labels[lane] = static_cast<int32_t>(k);
  }
}

}  // namespace

bool AreNeighbours(std::span<const int32_t> voxels) noexcept {
  return voxels.back() - voxels.front() + 1 == static_cast<int32_t>(voxels.size());
}

int64_t ClassAt(const AffineShape& shape, int64_t expert, int64_t position) noexcept {
  if (!shape.gaps()) return position;
  if (position == 0) return expert;
  return position - 1 < expert ? position - 1 : position;
}

void WriteFeatures(const AffineShape& shape,
                   int64_t expert,
                   const Tile& tile,
                   std::span<const int32_t> voxels,
                   const float* log_norms,
                   const FeatureLanes& out) {
  if (shape.space == AffineSpace::kSortedGaps) {
    for (size_t i = 0; i < voxels.size(); ++i) {
      WriteSortedGaps(expert, tile, voxels[i], static_cast<int64_t>(i), out);
    }
  } else if (shape.space == AffineSpace::kWinnerGaps) {
    WriteGaps(shape, expert, tile, voxels, out);
  } else {
    WriteShifted(shape, tile, voxels, log_norms, out);
  }
}

}  // namespace segcal
