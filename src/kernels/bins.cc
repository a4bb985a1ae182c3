// SPDX-License-Identifier: Apache-2.0
#include "kernels/bins.h"

#include <algorithm>
#include <cmath>

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/bins.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using DD = hn::ScalableTag<double>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;
using VD = hn::Vec<DD>;
using MaskF = hn::Mask<DF>;

// Whether x lies above the bin that ends at `edge`.
HWY_INLINE bool IsAbove(float x, float edge, bool closed_above) {
  return closed_above ? x > edge : x >= edge;
}
HWY_INLINE MaskF IsAbove(VF x, VF edge, bool closed_above) {
  return closed_above ? hn::Gt(x, edge) : hn::Ge(x, edge);
}

// The bin of one value: edges are equally spaced up to rounding, so the guess is off by one at
// most.
HWY_INLINE int64_t FindBin(float x, const BinEdges& edges) {
  const int64_t last = static_cast<int64_t>(edges.upper.size()) - 1;
  const float scale = static_cast<float>(edges.upper.size());
  int64_t k = std::min(static_cast<int64_t>(x * scale), last);
  const float* upper = edges.upper.data();
  if (k > 0 && !IsAbove(x, upper[k - 1], edges.closed_above)) --k;
  if (k < last && IsAbove(x, upper[k], edges.closed_above)) ++k;
  return k;
}

void FindBinsKernel(const float* x, int64_t n, const BinEdges& edges, uint16_t* bin) {
  for (int64_t i = 0; i < n; ++i) bin[i] = static_cast<uint16_t>(FindBin(x[i], edges));
}

// Sums of a bin that is filled by vectors.
struct VectorBin {
  VD confidence;
  int64_t count = 0;
  int64_t correct = 0;

  // The lanes of x in `mask`.
  HWY_INLINE void Add(VF x, MaskF mask, MaskF hit) {
    const DF d;
    const DD dd;
    const hn::Rebind<float, DD> half;
    alignas(64) float values[hn::MaxLanes(DF())];
    hn::Store(hn::IfThenElseZero(mask, x), d, values);
    for (size_t i = 0; i < hn::Lanes(d); i += hn::Lanes(dd)) {
      confidence = hn::Add(confidence, hn::PromoteTo(dd, hn::Load(half, values + i)));
    }
    count += static_cast<int64_t>(hn::CountTrue(d, mask));
    correct += static_cast<int64_t>(hn::CountTrue(d, hn::And(mask, hit)));
  }

  HWY_INLINE void Flush(BinSums* bin) const {
    bin->count += count;
    bin->correct += correct;
    bin->confidence += hn::GetLane(hn::SumOfLanes(DD(), confidence));
  }
};

HWY_INLINE uint32_t MaskBits(MaskF mask) {
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(DF(), mask, bytes);
  return bytes[0] | (uint32_t{bytes[1]} << 8);
}

// Values of a row waiting to be added to their bins one by one; the sign says hit or not. Collected
// without a branch, because a loop over the chosen lanes of each vector ends unpredictably.
struct Pending {
  float values[kTileVoxels + 1];
  size_t count = 0;

  HWY_INLINE void Add(VF x, MaskF mask, MaskF hit) {
    const DF d;
    alignas(64) float lanes[hn::MaxLanes(DF())];
    hn::Store(hn::Or(x, hn::IfThenElseZero(hit, hn::Set(d, -0.0f))), d, lanes);
    const uint32_t bits = MaskBits(mask);
    for (size_t i = 0; i < hn::Lanes(d); ++i) {
      values[count] = lanes[i];
      count += (bits >> i) & 1;
    }
  }

  HWY_INLINE void Flush(const BinEdges& edges, BinSums* bins) const {
    for (size_t i = 0; i < count; ++i) {
      const float x = std::fabs(values[i]);
      BinSums& bin = bins[FindBin(x, edges)];
      bin.count += 1;
      bin.correct += std::signbit(values[i]) ? 1 : 0;
      bin.confidence += static_cast<double>(x);
    }
  }
};

// Adds the row of class `index`. Most lie in the first or the last bin (classes that are out of the
// question, or certain): those two are filled by vectors, the others one value at a time.
HWY_INLINE void AddRow(
    const float* row, VI index, const int32_t* labels, const BinEdges& edges, BinSums* bins) {
  const DF d;
  const DI di;
  const size_t num_bins = edges.upper.size();
  const VF first_edge = hn::Set(d, edges.upper[0]);
  const VF last_edge = hn::Set(d, edges.upper[num_bins - (num_bins > 1 ? 2 : 1)]);
  VectorBin first{hn::Zero(DD())};
  VectorBin last{hn::Zero(DD())};
  Pending others;
  for (int64_t v = 0; v < kTileVoxels; v += static_cast<int64_t>(hn::Lanes(d))) {
    const VF x = hn::Load(d, row + v);
    const VI label = hn::Load(di, labels + v);
    const MaskF labelled = hn::RebindMask(d, hn::Gt(label, hn::Set(di, kNoLabel)));
    const MaskF hit = hn::RebindMask(d, hn::Eq(label, index));
    const MaskF above = hn::And(labelled, IsAbove(x, first_edge, edges.closed_above));
    first.Add(x, hn::AndNot(above, labelled), hit);
    if (hn::AllFalse(d, above)) continue;
    const MaskF in_last = hn::And(above, IsAbove(x, last_edge, edges.closed_above));
    last.Add(x, in_last, hit);
    others.Add(x, hn::AndNot(in_last, above), hit);
  }
  first.Flush(bins);
  last.Flush(bins + num_bins - 1);
  others.Flush(edges, bins);
}

void ClasswiseKernel(const float* probs,
                     const int32_t* labels,
                     int64_t num_classes,
                     const BinEdges& edges,
                     BinSums* bins) {
  const int64_t num_bins = static_cast<int64_t>(edges.upper.size());
  for (int64_t c = 0; c < num_classes; ++c) {
    const VI index = hn::Set(DI(), static_cast<int32_t>(c));
    AddRow(probs + c * kTileVoxels, index, labels, edges, bins + c * num_bins);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(FindBinsKernel);
HWY_EXPORT(ClasswiseKernel);

void FindBins(const float* x, int64_t n, const BinEdges& edges, uint16_t* bin) noexcept {
  SEGCAL_DISPATCH(FindBinsKernel)(x, n, edges, bin);
}

void AddClasswiseBins(const float* probs,
                      const int32_t* labels,
                      int64_t num_classes,
                      const BinEdges& edges,
                      BinSums* bins) noexcept {
  SEGCAL_DISPATCH(ClasswiseKernel)(probs, labels, num_classes, edges, bins);
}

}  // namespace segcal
#endif
