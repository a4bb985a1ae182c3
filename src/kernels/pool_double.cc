// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "core/half.h"
#include "kernels/dispatch.h"
#include "kernels/pool_paths.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pool_double.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// After highway.h.
#include <hwy/contrib/math/math-inl.h>

#include "kernels/half-inl.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

using DD = hn::ScalableTag<double>;
using VD = hn::Vec<DD>;
using MaskD = hn::Mask<DD>;

// Vectors of voxels handled together.
constexpr int kGroup = 4;
HWY_INLINE int64_t DoubleLanes() { return static_cast<int64_t>(hn::Lanes(DD())); }

// Arrays of the block are [num_classes][kPoolBlock].
HWY_INLINE int64_t At(int64_t c, int64_t i) { return c * kPoolBlock + i; }

HWY_INLINE void RowAsDouble(const double* row, double* out) {
  for (int64_t i = 0; i < kPoolBlock; ++i) out[i] = row[i];
}

HWY_INLINE void RowAsDouble(const float* row, double* out) {
  const hn::Rebind<float, DD> df;
  for (int64_t i = 0; i < kPoolBlock; i += DoubleLanes()) {
    hn::Store(hn::PromoteTo(DD(), hn::LoadU(df, row + i)), DD(), out + i);
  }
}

HWY_INLINE void RowAsDouble(const uint16_t* row, double* out) {
  const hn::ScalableTag<float> df;
  alignas(64) float floats[kPoolBlock];
  for (int64_t i = 0; i < kPoolBlock; i += static_cast<int64_t>(hn::Lanes(df))) {
    hn::Store(LoadHalves(df, row + i), df, floats + i);
  }
  RowAsDouble(floats, out);
}

HWY_INLINE void RowAsDouble(const BFloat16* row, double* out) {
  const hn::ScalableTag<float> df;
  alignas(64) float floats[kPoolBlock];
  for (int64_t i = 0; i < kPoolBlock; i += static_cast<int64_t>(hn::Lanes(df))) {
    hn::Store(LoadBFloats(df, &row[i].bits), df, floats + i);
  }
  RowAsDouble(floats, out);
}

template <typename T>
HWY_INLINE void GatherBlock(
    const MemberRows& rows, int64_t num_classes, int64_t first, int64_t count, double* values) {
  const T* data = static_cast<const T*>(rows.data) + first * rows.voxel_stride;
  const bool in_place = rows.voxel_stride == 1 && count == kPoolBlock;
  alignas(64) T row[kPoolBlock] = {};
  for (int64_t c = 0; c < num_classes; ++c) {
    const T* from = data + c * rows.class_stride;
    for (int64_t i = 0; i < count && !in_place; ++i) row[i] = from[i * rows.voxel_stride];
    RowAsDouble(in_place ? from : row, values + At(c, 0));
  }
}

// Padding lanes get what is faultless and equal for all classes.
void GatherMember(const MemberRows& rows,
                  int64_t num_classes,
                  int64_t first,
                  int64_t count,
                  bool probs,
                  double* values) {
  const double padding = probs ? 1.0 / static_cast<double>(num_classes) : 0.0;
  if (rows.dtype == DType::kF64) {
    GatherBlock<double>(rows, num_classes, first, count, values);
  } else if (rows.dtype == DType::kF32) {
    GatherBlock<float>(rows, num_classes, first, count, values);
  } else if (rows.dtype == DType::kBF16) {
    GatherBlock<BFloat16>(rows, num_classes, first, count, values);
  } else {
    GatherBlock<uint16_t>(rows, num_classes, first, count, values);
  }
  for (int64_t c = 0; c < num_classes; ++c) {
    for (int64_t i = count; i < kPoolBlock; ++i) values[At(c, i)] = padding;
  }
}

// The functions below handle a group of vectors: `values` and `pooled` point at its first lane.

HWY_INLINE void LoadGroup(const double* row, VD* x) {
  for (int k = 0; k < kGroup; ++k) x[k] = hn::Load(DD(), row + k * DoubleLanes());
}
HWY_INLINE void StoreGroup(const VD* x, double* row) {
  for (int k = 0; k < kGroup; ++k) hn::Store(x[k], DD(), row + k * DoubleLanes());
}

HWY_INLINE void FindLargest(const double* values, int64_t num_classes, VD* largest) {
  LoadGroup(values, largest);
  for (int64_t c = 1; c < num_classes; ++c) {
    VD x[kGroup];
    LoadGroup(values + At(c, 0), x);
    for (int k = 0; k < kGroup; ++k) largest[k] = hn::Max(largest[k], x[k]);
  }
}

// False if some value is NaN or outside [lowest, highest].
HWY_INLINE bool AllWithin(const double* values, int64_t num_classes, VD lowest, VD highest) {
  const DD d;
  MaskD good = hn::Le(lowest, highest);
  for (int64_t c = 0; c < num_classes; ++c) {
    VD x[kGroup];
    LoadGroup(values + At(c, 0), x);
    for (int k = 0; k < kGroup; ++k) {
      good = hn::And(good, hn::And(hn::Ge(x[k], lowest), hn::Le(x[k], highest)));
    }
  }
  return hn::AllTrue(d, good);
}

HWY_INLINE bool AllPossible(const VD* largest) {
  MaskD good = hn::Gt(largest[0], hn::Set(DD(), -HUGE_VAL));
  for (int k = 1; k < kGroup; ++k)
    good = hn::And(good, hn::Gt(largest[k], hn::Set(DD(), -HUGE_VAL)));
  return hn::AllTrue(DD(), good);
}

HWY_INLINE void DivideRows(const VD* by, int64_t num_classes, double* values) {
  const DD d;
  VD inverse[kGroup];
  for (int k = 0; k < kGroup; ++k) inverse[k] = hn::Div(hn::Set(d, 1.0), by[k]);
  for (int64_t c = 0; c < num_classes; ++c) {
    VD x[kGroup];
    LoadGroup(values + At(c, 0), x);
    for (int k = 0; k < kGroup; ++k) x[k] = hn::Mul(x[k], inverse[k]);
    StoreGroup(x, values + At(c, 0));
  }
}

// values <- softmax(values); false if all are -inf.
HWY_INLINE bool SoftmaxInPlace(double* values, int64_t num_classes) {
  const DD d;
  VD largest[kGroup];
  VD sum[kGroup];
  FindLargest(values, num_classes, largest);
  for (int k = 0; k < kGroup; ++k) sum[k] = hn::Zero(d);
  for (int64_t c = 0; c < num_classes; ++c) {
    VD x[kGroup];
    LoadGroup(values + At(c, 0), x);
    for (int k = 0; k < kGroup; ++k) x[k] = hn::Sub(x[k], largest[k]);
    ExpNonPositiveDouble<kGroup>(d, x);
    for (int k = 0; k < kGroup; ++k) sum[k] = hn::Add(sum[k], x[k]);
    StoreGroup(x, values + At(c, 0));
  }
  DivideRows(sum, num_classes, values);
  return AllPossible(largest);
}

// Divides probabilities by their sum; false if a sum has a fault.
HWY_INLINE bool NormaliseInPlace(double* values, int64_t num_classes, int64_t* renormalised) {
  const DD d;
  VD sum[kGroup];
  LoadGroup(values, sum);
  for (int64_t c = 1; c < num_classes; ++c) {
    VD x[kGroup];
    LoadGroup(values + At(c, 0), x);
    for (int k = 0; k < kGroup; ++k) sum[k] = hn::Add(sum[k], x[k]);
  }
  DivideRows(sum, num_classes, values);
  bool good = true;
  for (const VD& s : sum) {
    const MaskD within =
        hn::And(hn::Ge(s, hn::Set(d, kMinProbSum)), hn::Le(s, hn::Set(d, kMaxProbSum)));
    const VD deviation = hn::Abs(hn::Sub(s, hn::Set(d, 1.0)));
    good = good && hn::AllTrue(d, within);
    *renormalised +=
        static_cast<int64_t>(hn::CountTrue(d, hn::Gt(deviation, hn::Set(d, kProbSumTolerance))));
  }
  return good;
}

// values <- log(max(values, lowest)), lowest > 0.
HWY_INLINE void LogInPlace(double* values, int64_t num_classes, VD lowest) {
  const DD d;
  for (int64_t c = 0; c < num_classes; ++c) {
    for (int k = 0; k < kGroup; ++k) {
      double* at = values + At(c, k * DoubleLanes());
      hn::Store(hn::Log(d, hn::Max(hn::Load(d, at), lowest)), d, at);
    }
  }
}

HWY_INLINE void AddTo(const double* values, int64_t num_classes, bool is_first, double* pooled) {
  for (int64_t c = 0; c < num_classes; ++c) {
    VD x[kGroup];
    VD sum[kGroup];
    LoadGroup(values + At(c, 0), x);
    LoadGroup(pooled + At(c, 0), sum);
    for (int k = 0; k < kGroup; ++k) x[k] = is_first ? x[k] : hn::Add(sum[k], x[k]);
    StoreGroup(x, pooled + At(c, 0));
  }
}

// What the member loop needs, the same for every vector.
struct MemberRule {
  InputKind input;
  PoolRule rule;
  double largest_input;  // of logits or log-probabilities
  double lowest_prob;    // exp(floor), for probabilities
};

// One member's values to what is averaged; false on a fault.
HWY_INLINE bool PrepareMember(const MemberRule& rule,
                              double* values,
                              int64_t num_classes,
                              int64_t* renormalised) {
  const DD d;
  const bool probs = rule.input == InputKind::kProbs;
  const VD lowest = hn::Set(d, probs ? 0.0 : -HUGE_VAL);
  if (!AllWithin(values, num_classes, lowest, hn::Set(d, rule.largest_input))) return false;
  if (probs && !NormaliseInPlace(values, num_classes, renormalised)) return false;
  if (probs && rule.rule == PoolRule::kMeanLogits) {
    LogInPlace(values, num_classes, hn::Set(d, rule.lowest_prob));
  }
  return probs || rule.rule == PoolRule::kMeanLogits || SoftmaxInPlace(values, num_classes);
}

HWY_INLINE void DivideBy(double members, double* pooled, int64_t num_classes) {
  const DD d;
  if (members == 1.0) return;
  for (int64_t c = 0; c < num_classes; ++c) {
    VD x[kGroup];
    LoadGroup(pooled + At(c, 0), x);
    for (int k = 0; k < kGroup; ++k) x[k] = hn::Div(x[k], hn::Set(d, members));
    StoreGroup(x, pooled + At(c, 0));
  }
}

// The lowest class with the largest value.
HWY_INLINE void StoreDecision(const double* pooled, int64_t num_classes, uint16_t* decision) {
  const DD d;
  VD largest[kGroup];
  VD winner[kGroup];
  LoadGroup(pooled, largest);
  for (int k = 0; k < kGroup; ++k) winner[k] = hn::Zero(d);
  for (int64_t c = 1; c < num_classes; ++c) {
    const VD index = hn::Set(d, static_cast<double>(c));
    for (int k = 0; k < kGroup; ++k) {
      const VD value = hn::Load(d, pooled + At(c, k * DoubleLanes()));
      const MaskD larger = hn::Gt(value, largest[k]);
      largest[k] = hn::IfThenElse(larger, value, largest[k]);
      winner[k] = hn::IfThenElse(larger, index, winner[k]);
    }
  }
  alignas(64) double indices[kGroup * hn::MaxLanes(DD())];
  StoreGroup(winner, indices);
  for (int64_t i = 0; i < kGroup * DoubleLanes(); ++i)
    decision[i] = static_cast<uint16_t>(indices[i]);
}

// Stores u = max(z - max z, floor) and the offset max z; false if every z is -inf.
HWY_INLINE bool StoreLogits(
    const double* z, int64_t num_classes, double floor, float* logits, double* offset) {
  const DD d;
  const hn::Rebind<float, DD> df;
  VD largest[kGroup];
  FindLargest(z, num_classes, largest);
  for (int64_t c = 0; c < num_classes; ++c) {
    for (int k = 0; k < kGroup; ++k) {
      const int64_t i = k * DoubleLanes();
      const VD u = hn::Max(hn::Sub(hn::Load(d, z + At(c, i)), largest[k]), hn::Set(d, floor));
      hn::Store(hn::DemoteTo(df, u), df, logits + c * kTileVoxels + i);
    }
  }
  // Adding zero makes -0 plain 0, as in the float path.
  VD plain[kGroup];
  for (int k = 0; k < kGroup; ++k) plain[k] = hn::Add(largest[k], hn::Zero(d));
  StoreGroup(plain, offset);
  return AllPossible(largest);
}

MemberRule RuleFor(const PoolOptions& options, size_t num_members) {
  // The sum over members must stay finite.
  const double finite = std::numeric_limits<double>::max() / static_cast<double>(num_members);
  const bool log_probs = options.input == InputKind::kLogProbs;
  return {.input = options.input,
          .rule = options.rule,
          .largest_input = log_probs ? static_cast<double>(kMaxLogProb) : finite,
          .lowest_prob = std::exp(options.floor)};
}

bool PoolBlock(std::span<const MemberRows> members,
               int64_t num_classes,
               int64_t first,
               int64_t count,
               const PoolOptions& options,
               double* scratch,
               const PoolOutput& out,
               int64_t* renormalised) {
  const DD d;
  const int64_t step = kGroup * DoubleLanes();
  const MemberRule rule = RuleFor(options, members.size());
  const bool probs = options.input == InputKind::kProbs;
  double* values = scratch;
  double* pooled = scratch + num_classes * kPoolBlock;
  for (const MemberRows& rows : members) {
    GatherMember(rows, num_classes, first, count, probs, values);
    for (int64_t i = 0; i < kPoolBlock; i += step) {
      if (!PrepareMember(rule, values + i, num_classes, renormalised)) return false;
      AddTo(values + i, num_classes, &rows == members.data(), pooled + i);
    }
  }
  // Means of probabilities below this become impossible after the floor anyway.
  const double lowest = probs ? rule.lowest_prob : std::numeric_limits<double>::min();
  for (int64_t i = 0; i < kPoolBlock; i += step) {
    const int64_t v = first + i;
    DivideBy(static_cast<double>(members.size()), pooled + i, num_classes);
    StoreDecision(pooled + i, num_classes, out.decision + v);
    if (rule.rule == PoolRule::kMeanProbs) LogInPlace(pooled + i, num_classes, hn::Set(d, lowest));
    if (!StoreLogits(pooled + i, num_classes, options.floor, out.logits + v, out.offset + v)) {
      return false;
    }
  }
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace segcal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace segcal {

HWY_EXPORT(PoolBlock);

bool PoolDoubleBlock(std::span<const MemberRows> members,
                     int64_t num_classes,
                     int64_t first,
                     int64_t count,
                     const PoolOptions& options,
                     double* scratch,
                     const PoolOutput& out,
                     int64_t* renormalised) noexcept {
  return SEGCAL_DISPATCH(PoolBlock)(
      members, num_classes, first, count, options, scratch, out, renormalised);
}

}  // namespace segcal
#endif
