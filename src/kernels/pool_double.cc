// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "kernels/dispatch.h"
#include "kernels/pool_paths.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pool_double.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// After highway.h.
#include <hwy/contrib/math/math-inl.h>

#include "kernels/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace segcal {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DD = hn::ScalableTag<double>;
using VD = hn::Vec<DD>;
using MaskD = hn::Mask<DD>;

// Arrays of the block are [num_classes][kPoolBlock].
HWY_INLINE int64_t At(int64_t c, int64_t i) { return c * kPoolBlock + i; }

HWY_INLINE void RowToDouble(const double* row, double* out) {
  for (int64_t i = 0; i < kPoolBlock; ++i) out[i] = row[i];
}

HWY_INLINE void RowToDouble(const float* row, double* out) {
  for (int64_t i = 0; i < kPoolBlock; ++i) out[i] = static_cast<double>(row[i]);
}

HWY_INLINE void RowToDouble(const uint16_t* row, double* out) {
  const hn::ScalableTag<float> df;
  alignas(64) float floats[kPoolBlock];
  for (int64_t i = 0; i < kPoolBlock; i += static_cast<int64_t>(hn::Lanes(df))) {
    hn::Store(LoadHalves(df, row + i), df, floats + i);
  }
  RowToDouble(floats, out);
}

template <typename T>
HWY_INLINE void GatherBlock(const MemberRows& rows,
                            int64_t num_classes,
                            int64_t first,
                            int64_t count,
                            double* values) {
  const T* data = static_cast<const T*>(rows.data) + first * rows.voxel_stride;
  alignas(64) T row[kPoolBlock] = {};
  for (int64_t c = 0; c < num_classes; ++c) {
    const T* from = data + c * rows.class_stride;
    for (int64_t i = 0; i < count; ++i) row[i] = from[i * rows.voxel_stride];
    RowToDouble(row, values + At(c, 0));
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
  } else {
    GatherBlock<uint16_t>(rows, num_classes, first, count, values);
  }
  for (int64_t c = 0; c < num_classes; ++c) {
    for (int64_t i = count; i < kPoolBlock; ++i) values[At(c, i)] = padding;
  }
}

HWY_INLINE VD LargestOf(const double* values, int64_t num_classes) {
  const DD d;
  VD largest = hn::Load(d, values);
  for (int64_t c = 1; c < num_classes; ++c) {
    largest = hn::Max(largest, hn::Load(d, values + At(c, 0)));
  }
  return largest;
}

// False if some value is NaN or above `limit`.
HWY_INLINE bool AllAtMost(const double* values, int64_t num_classes, VD limit) {
  const DD d;
  MaskD good = hn::Le(hn::Load(d, values), limit);
  for (int64_t c = 1; c < num_classes; ++c) {
    good = hn::And(good, hn::Le(hn::Load(d, values + At(c, 0)), limit));
  }
  return hn::AllTrue(d, good);
}

// The functions below handle one vector of voxels: `values` and `pooled` point at its first lane.

// values <- softmax(values); false if all are -inf.
HWY_INLINE bool SoftmaxInPlace(double* values, int64_t num_classes) {
  const DD d;
  const VD largest = LargestOf(values, num_classes);
  VD sum = hn::Zero(d);
  for (int64_t c = 0; c < num_classes; ++c) {
    // Clamped because Exp is not defined at -inf; the result is 0 either way.
    const VD x = hn::Max(hn::Sub(hn::Load(d, values + At(c, 0)), largest), hn::Set(d, -2000.0));
    const VD e = hn::Exp(d, x);
    sum = hn::Add(sum, e);
    hn::Store(e, d, values + At(c, 0));
  }
  for (int64_t c = 0; c < num_classes; ++c) {
    hn::Store(hn::Div(hn::Load(d, values + At(c, 0)), sum), d, values + At(c, 0));
  }
  return hn::AllTrue(d, hn::Gt(largest, hn::Set(d, -HUGE_VAL)));
}

// Divides probabilities by their sum; false if some value or the sum has a fault.
HWY_INLINE bool NormaliseInPlace(double* values, int64_t num_classes, int64_t* renormalised) {
  const DD d;
  VD sum = hn::Zero(d);
  MaskD good = hn::Eq(sum, sum);
  for (int64_t c = 0; c < num_classes; ++c) {
    const VD p = hn::Load(d, values + At(c, 0));
    good = hn::And(good, hn::Ge(p, hn::Zero(d)));
    sum = hn::Add(sum, p);
  }
  good = hn::And(good, hn::Ge(sum, hn::Set(d, kMinProbSum)));
  good = hn::And(good, hn::Le(sum, hn::Set(d, kMaxProbSum)));
  const VD deviation = hn::Abs(hn::Sub(sum, hn::Set(d, 1.0)));
  *renormalised +=
      static_cast<int64_t>(hn::CountTrue(d, hn::Gt(deviation, hn::Set(d, kProbSumTolerance))));
  for (int64_t c = 0; c < num_classes; ++c) {
    hn::Store(hn::Div(hn::Load(d, values + At(c, 0)), sum), d, values + At(c, 0));
  }
  return hn::AllTrue(d, good);
}

// values <- log(max(values, lowest)), lowest > 0.
HWY_INLINE void LogInPlace(double* values, int64_t num_classes, VD lowest) {
  const DD d;
  for (int64_t c = 0; c < num_classes; ++c) {
    double* row = values + At(c, 0);
    hn::Store(hn::Log(d, hn::Max(hn::Load(d, row), lowest)), d, row);
  }
}

HWY_INLINE void AddTo(const double* values, int64_t num_classes, bool is_first, double* pooled) {
  const DD d;
  for (int64_t c = 0; c < num_classes; ++c) {
    const VD value = hn::Load(d, values + At(c, 0));
    hn::Store(is_first ? value : hn::Add(hn::Load(d, pooled + At(c, 0)), value), d, pooled + At(c, 0));
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
  if (rule.input == InputKind::kProbs) {
    if (!NormaliseInPlace(values, num_classes, renormalised)) return false;
    if (rule.rule == PoolRule::kMeanLogits) {
      LogInPlace(values, num_classes, hn::Set(d, rule.lowest_prob));
    }
    return true;
  }
  if (!AllAtMost(values, num_classes, hn::Set(d, rule.largest_input))) return false;
  return rule.rule == PoolRule::kMeanLogits || SoftmaxInPlace(values, num_classes);
}

HWY_INLINE void DivideBy(double members, double* pooled, int64_t num_classes) {
  const DD d;
  for (int64_t c = 0; c < num_classes; ++c) {
    double* row = pooled + At(c, 0);
    hn::Store(hn::Div(hn::Load(d, row), hn::Set(d, members)), d, row);
  }
}

// The lowest class with the largest value.
HWY_INLINE void StoreDecision(const double* pooled, int64_t num_classes, uint16_t* decision) {
  const DD d;
  VD largest = hn::Load(d, pooled);
  VD winner = hn::Zero(d);
  for (int64_t c = 1; c < num_classes; ++c) {
    const VD value = hn::Load(d, pooled + At(c, 0));
    const MaskD larger = hn::Gt(value, largest);
    largest = hn::IfThenElse(larger, value, largest);
    winner = hn::IfThenElse(larger, hn::Set(d, static_cast<double>(c)), winner);
  }
  alignas(64) double index[hn::MaxLanes(DD())];
  hn::Store(winner, d, index);
  for (size_t i = 0; i < hn::Lanes(d); ++i) decision[i] = static_cast<uint16_t>(index[i]);
}

// Stores u = max(z - max z, floor) and the offset max z; false if every z is -inf.
HWY_INLINE bool StoreLogits(const double* z,
                            int64_t num_classes,
                            double floor,
                            float* logits,
                            double* offset) {
  const DD d;
  const hn::Rebind<float, DD> df;
  const VD largest = LargestOf(z, num_classes);
  for (int64_t c = 0; c < num_classes; ++c) {
    const VD u = hn::Max(hn::Sub(hn::Load(d, z + At(c, 0)), largest), hn::Set(d, floor));
    hn::Store(hn::DemoteTo(df, u), df, logits + c * kTileVoxels);
  }
  // Adding zero makes -0 plain 0, as in the float path.
  hn::Store(hn::Add(largest, hn::Zero(d)), d, offset);
  return hn::AllTrue(d, hn::Gt(largest, hn::Set(d, -HUGE_VAL)));
}

MemberRule RuleFor(const PoolOptions& options) {
  const bool log_probs = options.input == InputKind::kLogProbs;
  return {.input = options.input,
          .rule = options.rule,
          .largest_input = log_probs ? static_cast<double>(kMaxLogProb)
                                     : std::numeric_limits<double>::max(),
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
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const MemberRule rule = RuleFor(options);
  const bool probs = options.input == InputKind::kProbs;
  double* values = scratch;
  double* pooled = scratch + num_classes * kPoolBlock;
  for (const MemberRows& rows : members) {
    GatherMember(rows, num_classes, first, count, probs, values);
    for (int64_t i = 0; i < kPoolBlock; i += lanes) {
      if (!PrepareMember(rule, values + i, num_classes, renormalised)) return false;
      AddTo(values + i, num_classes, &rows == members.data(), pooled + i);
    }
  }
  // Means of probabilities below this become impossible after the floor anyway.
  const double lowest = probs ? rule.lowest_prob : std::numeric_limits<double>::min();
  for (int64_t i = 0; i < kPoolBlock; i += lanes) {
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
