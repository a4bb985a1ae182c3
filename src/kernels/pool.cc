// SPDX-License-Identifier: Apache-2.0
#include "kernels/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/half.h"
#include "kernels/pool_paths.h"

namespace segcal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool AllImpossible(const MemberRows& rows, int64_t num_classes, int64_t v) {
  for (int64_t c = 0; c < num_classes; ++c) {
    if (MemberValue(rows, c, v) != -kInfinity) return false;
  }
  return true;
}

PoolFault FaultOfLogits(const MemberRows& rows, int64_t num_classes, int64_t v, double limit) {
  for (int64_t c = 0; c < num_classes; ++c) {
    if (MemberValue(rows, c, v) > limit) return PoolFault::kPositiveLogProb;
  }
  return AllImpossible(rows, num_classes, v) ? PoolFault::kNoPossibleClass : PoolFault::kNone;
}

PoolFault FaultOfProbs(const MemberRows& rows, int64_t num_classes, int64_t v) {
  double sum = 0.0;
  for (int64_t c = 0; c < num_classes; ++c) {
    const double p = MemberValue(rows, c, v);
    if (p < 0.0) return PoolFault::kNegativeProb;
    sum += p;
  }
  if (sum == 0.0) return PoolFault::kNoPossibleClass;
  return sum < kMinProbSum || sum > kMaxProbSum ? PoolFault::kSumNotOne : PoolFault::kNone;
}

PoolFault FaultOfMember(const MemberRows& rows, int64_t num_classes, int64_t v, InputKind input) {
  for (int64_t c = 0; c < num_classes; ++c) {
    // False for NaN too.
    if (!(MemberValue(rows, c, v) < kInfinity)) return PoolFault::kNotANumber;
  }
  switch (input) {
    case InputKind::kLogits:
      return FaultOfLogits(rows, num_classes, v, kInfinity);
    case InputKind::kLogProbs:
      return FaultOfLogits(rows, num_classes, v, static_cast<double>(kMaxLogProb));
    case InputKind::kProbs:
      return FaultOfProbs(rows, num_classes, v);
  }
  return PoolFault::kNone;
}

// Whether every class is impossible (-inf) for some member: then no mean of logits is left.
bool NothingLeft(std::span<const MemberRows> members, int64_t num_classes, int64_t v) {
  for (int64_t c = 0; c < num_classes; ++c) {
    const auto impossible = [&](const MemberRows& rows) {
      return MemberValue(rows, c, v) == -kInfinity;
    };
    if (std::none_of(members.begin(), members.end(), impossible)) return false;
  }
  return true;
}

bool TakesFloatPath(std::span<const MemberRows> members, const PoolOptions& options) {
  const MemberRows& rows = members.front();
  return members.size() == 1 && rows.dtype != DType::kF64 && rows.voxel_stride == 1 &&
         options.input != InputKind::kProbs && options.rule == PoolRule::kMeanLogits;
}

// Copies the `count` voxels of a short tile to `out`, zeros behind them.
MemberRows StageRows(const MemberRows& rows, int64_t num_classes, int64_t count, float* out) {
  for (int64_t c = 0; c < num_classes; ++c) {
    float* row = out + c * kTileVoxels;
    for (int64_t v = 0; v < count; ++v) row[v] = static_cast<float>(MemberValue(rows, c, v));
    std::fill(row + count, row + kTileVoxels, 0.0f);
  }
  return {.data = out, .dtype = DType::kF32, .class_stride = kTileVoxels, .voxel_stride = 1};
}

PoolStatus PoolByFloats(const MemberRows& rows,
                        int64_t num_classes,
                        int64_t count,
                        const PoolOptions& options,
                        const PoolOutput& out) {
  const MemberRows full =
      count == kTileVoxels ? rows : StageRows(rows, num_classes, count, out.logits);
  if (PoolFloatRows(full, num_classes, options, out)) return {};
  return FindPoolFault(std::span(&rows, 1), num_classes, 0, count, options);
}

void FillPadding(int64_t num_classes, int64_t count, const PoolOutput& out) {
  for (int64_t c = 0; c < num_classes; ++c) {
    std::fill(out.logits + c * kTileVoxels + count, out.logits + (c + 1) * kTileVoxels, 0.0f);
  }
  std::fill(out.offset + count, out.offset + kTileVoxels, 0.0);
  std::fill(out.decision + count, out.decision + kTileVoxels, uint16_t{0});
}

}  // namespace

double MemberValue(const MemberRows& rows, int64_t c, int64_t v) noexcept {
  const int64_t i = c * rows.class_stride + v * rows.voxel_stride;
  if (rows.dtype == DType::kF32)
    return static_cast<double>(static_cast<const float*>(rows.data)[i]);
  if (rows.dtype == DType::kF64) return static_cast<const double*>(rows.data)[i];
  if (rows.dtype == DType::kBF16)
    return static_cast<double>(static_cast<const BFloat16*>(rows.data)[i]);
  return static_cast<double>(FloatFromHalf(static_cast<const uint16_t*>(rows.data)[i]));
}

PoolStatus FindPoolFault(std::span<const MemberRows> members,
                         int64_t num_classes,
                         int64_t first,
                         int64_t count,
                         const PoolOptions& options) noexcept {
  for (int64_t v = first; v < first + count; ++v) {
    for (size_t m = 0; m < members.size(); ++m) {
      const PoolFault fault = FaultOfMember(members[m], num_classes, v, options.input);
      if (fault != PoolFault::kNone) {
        return {.fault = fault, .voxel = v, .member = static_cast<int64_t>(m)};
      }
    }
    const bool mean_of_logs =
        options.input != InputKind::kProbs && options.rule == PoolRule::kMeanLogits;
    if (mean_of_logs && NothingLeft(members, num_classes, v)) {
      return {.fault = PoolFault::kNoPossibleClass, .voxel = v};
    }
  }
  return {};
}

int64_t PoolScratchBytes(int64_t num_classes) noexcept {
  // One member's values and the pooled ones.
  return 2 * num_classes * kPoolBlock * static_cast<int64_t>(sizeof(double));
}

PoolStatus PoolTile(std::span<const MemberRows> members,
                    int64_t num_classes,
                    int64_t count,
                    const PoolOptions& options,
                    void* scratch,
                    const PoolOutput& out) noexcept {
  if (TakesFloatPath(members, options)) {
    return PoolByFloats(members.front(), num_classes, count, options, out);
  }
  PoolStatus status;
  for (int64_t first = 0; first < count; first += kPoolBlock) {
    const int64_t block = std::min(kPoolBlock, count - first);
    if (!PoolDoubleBlock(members,
                         num_classes,
                         first,
                         block,
                         options,
                         static_cast<double*>(scratch),
                         out,
                         &status.renormalised)) {
      status = FindPoolFault(members, num_classes, first, block, options);
      // Members that are finite one by one may still have no finite mean.
      if (status.fault == PoolFault::kNone)
        status = {.fault = PoolFault::kNotANumber, .voxel = first};
      return status;
    }
  }
  FillPadding(num_classes, count, out);
  return status;
}

}  // namespace segcal
