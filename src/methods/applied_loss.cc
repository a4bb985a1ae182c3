// SPDX-License-Identifier: Apache-2.0
#include "methods/applied_loss.h"

#include "core/exact_sum.h"
#include "methods/emit_buffer.h"

namespace segcal {
namespace {

class LossTotals {
 public:
  void Add(const Tile& tile, const float* log_label) noexcept {
    for (int64_t v = 0; v < tile.count; ++v) {
      if (tile.labels[v] != kNoLabel) pending_ -= static_cast<double>(log_label[v]);
    }
  }
  void Flush() noexcept {
    sum_.Add(pending_);
    pending_ = 0.0;
  }
  void Merge(const LossTotals& other) noexcept { sum_.Merge(other.sum_); }
  double sum() const noexcept { return sum_.value(); }

 private:
  double pending_ = 0.0;
  ExactSum sum_;
};

}  // namespace

double AppliedLoss(const FitContext& context,
                   const PixelCalibrator& calibrator,
                   const std::string& stage) {
  const auto add = [&](const Tile& tile, int64_t, LossTotals* totals) {
    EmitBuffer buffer;
    const TileProbs out = buffer.Reserve(tile.num_classes);
    calibrator.ApplyTile(tile, out);
    totals->Add(tile, out.log_label);
  };
  const LossTotals totals = ReduceTiles(context.stream, stage, context.pooling, LossTotals{}, add);
  return totals.sum() / static_cast<double>(context.survey.labelled);
}

}  // namespace segcal
