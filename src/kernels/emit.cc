// SPDX-License-Identifier: Apache-2.0
#include "kernels/emit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/emit.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;

// own[v] = the probability of decision[v], rival[v] = the largest of the other classes, 0 if there
// is none. Whether some rival is not below.
bool FindRivals(
    const uint16_t* decision, int64_t num_classes, const float* probs, float* own, float* rival) {
  constexpr int kGroup = 4;
  const DF d;
  const DI di;
  const hn::Rebind<uint16_t, DF> du16;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  bool all_win = true;
  for (int64_t v = 0; v < kTileVoxels; v += kGroup * lanes) {
    hn::Vec<DF> winning[kGroup];
    hn::Vec<DF> largest[kGroup];
    hn::Vec<DI> winner[kGroup];
    for (int k = 0; k < kGroup; ++k) {
      winning[k] = hn::Zero(d);
      largest[k] = hn::Zero(d);
      winner[k] = hn::PromoteTo(di, hn::Load(du16, decision + v + k * lanes));
    }
    auto index = hn::Zero(di);
    for (int64_t c = 0; c < num_classes; ++c) {
      for (int k = 0; k < kGroup; ++k) {
        const auto q = hn::Load(d, probs + c * kTileVoxels + v + k * lanes);
        const auto is_winner = hn::RebindMask(d, hn::Eq(winner[k], index));
        winning[k] = hn::Or(winning[k], hn::IfThenElseZero(is_winner, q));
        largest[k] = hn::Max(largest[k], hn::IfThenZeroElse(is_winner, q));
      }
      index = hn::Add(index, hn::Set(di, 1));
    }
    for (int k = 0; k < kGroup; ++k) hn::Store(winning[k], d, own + v + k * lanes);
    for (int k = 0; k < kGroup; ++k) hn::Store(largest[k], d, rival + v + k * lanes);
    for (int k = 0; k < kGroup; ++k)
      all_win = all_win && hn::AllTrue(d, hn::Gt(winning[k], largest[k]));
  }
  return !all_win;
}

void RoundRowsToHalf(const float* probs, int64_t num_classes, uint16_t* out) {
  const DF d;
  const hn::Rebind<uint16_t, DF> du16;
  for (int64_t i = 0; i < num_classes * kTileVoxels; i += static_cast<int64_t>(hn::Lanes(d))) {
    hn::Store(hn::DemoteTo(du16, HalfBits(d, hn::Load(d, probs + i))), du16, out + i);
  }
}

void StreamWholeRows(const float* rows, int64_t num_classes, int64_t class_stride, float* out) {
  const DF d;
  for (int64_t c = 0; c < num_classes; ++c) {
    for (int64_t v = 0; v < kTileVoxels; v += static_cast<int64_t>(hn::Lanes(d))) {
      hn::Stream(hn::Load(d, rows + c * kTileVoxels + v), d, out + c * class_stride + v);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {
namespace {

HWY_EXPORT(FindRivals);
HWY_EXPORT(RoundRowsToHalf);
HWY_EXPORT(StreamWholeRows);

// The least float32 the winner rule allows above m: m(1 + 2^-23), at least the next float32.
float JustAbove(float m) {
  return std::max(m * (1.0f + 0x1p-23f), std::nextafter(m, std::numeric_limits<float>::max()));
}

uint16_t LargestOther(const uint16_t* halves, int64_t num_classes, int64_t winner, int64_t v) {
  uint16_t largest = 0;
  for (int64_t c = 0; c < num_classes; ++c) {
    if (c != winner) largest = std::max(largest, halves[c * kTileVoxels + v]);
  }
  return largest;
}

}  // namespace

void KeepWinner(const uint16_t* decision,
                int64_t num_classes,
                float* probs,
                float* winning) noexcept {
  if (num_classes == 1) {
    if (winning != nullptr) std::copy_n(probs, kTileVoxels, winning);
    return;
  }
  alignas(64) float scratch[kTileVoxels];
  alignas(64) float rival[kTileVoxels];
  float* own = winning != nullptr ? winning : scratch;
  if (!SEGCAL_DISPATCH(FindRivals)(decision, num_classes, probs, own, rival)) return;
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    if (own[v] <= rival[v]) own[v] = probs[decision[v] * kTileVoxels + v] = JustAbove(rival[v]);
  }
}

void RoundToHalf(const float* probs,
                 const uint16_t* decision,
                 bool keep_decision,
                 int64_t num_classes,
                 uint16_t* out) noexcept {
  SEGCAL_DISPATCH(RoundRowsToHalf)(probs, num_classes, out);
  if (!keep_decision || num_classes == 1) return;
  alignas(64) float own[kTileVoxels];
  alignas(64) float rival[kTileVoxels];
  SEGCAL_DISPATCH(FindRivals)(decision, num_classes, probs, own, rival);
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    // Rounding merges values less than 2^-10 apart; only then the halves are compared.
    if (rival[v] < 0.998f * own[v]) continue;
    const int64_t winner = decision[v];
    uint16_t& half = out[winner * kTileVoxels + v];
    // Non-negative halves are ordered as their bits.
    const uint16_t largest = LargestOther(out, num_classes, winner, v);
    if (half <= largest) half = static_cast<uint16_t>(largest + 1);
  }
}

void StreamRows(const float* rows,
                int64_t num_classes,
                int64_t count,
                int64_t class_stride,
                float* out) noexcept {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(float));
  const bool aligned = reinterpret_cast<uintptr_t>(out) % 64 == 0 && class_stride % kLine == 0;
  if (aligned && count == kTileVoxels) {
    SEGCAL_DISPATCH(StreamWholeRows)(rows, num_classes, class_stride, out);
    return;
  }
  for (int64_t c = 0; c < num_classes; ++c) {
    std::copy_n(rows + c * kTileVoxels, count, out + c * class_stride);
  }
}

void FinishStreaming() noexcept { hwy::FlushStream(); }

}  // namespace segcal
#endif
