// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/applied_loss.h"

#include "core/exact_sum.h"
#include "methods/shared/bound_pass.h"
#include "methods/shared/emit_buffer.h"

namespace segcal {
namespace {

class LossTotals {
 public:
  void Add(const Tile& tile, const float* log_label) noexcept {
    for (int64_t v = 0; v < tile.count; ++v) {
      if (tile.labels[v] == kNoLabel) continue;
      pending_ -= static_cast<double>(log_label[v]);
      ++count_;
    }
  }
  void Flush() noexcept {
    sum_.Add(pending_);
    pending_ = 0.0;
  }
  static constexpr auto SumFields() { return std::tuple(&LossTotals::sum_, &LossTotals::count_); }
  double mean() const noexcept { return sum_.value() / static_cast<double>(count_); }

 private:
  double pending_ = 0.0;
  ExactSum sum_;
  int64_t count_ = 0;
};

}  // namespace

double AppliedMeanLoss(const CaseStream& stream,
                       const Pooling& pooling,
                       const Calibrator& calibrator,
                       const std::string& stage) {
  const auto add = [](const Tile& tile, const BoundCalibrator& bound, LossTotals* totals) {
    EmitBuffer buffer;
    const TileProbs out = buffer.Reserve(tile.num_classes);
    bound.Apply(tile, out);
    totals->Add(tile, out.log_label);
  };
  return ReduceBound(stream, stage, pooling, calibrator, LossTotals{}, add).mean();
}

double AppliedLoss(const FitContext& context,
                   const Calibrator& calibrator,
                   const std::string& stage) {
  return AppliedMeanLoss(context.stream, context.pooling, calibrator, stage);
}

}  // namespace segcal
