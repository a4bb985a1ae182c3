// SPDX-License-Identifier: Apache-2.0
#include "methods/applied_loss.h"

#include <mutex>

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
                   const Calibrator& calibrator,
                   const std::string& stage) {
  struct BoundCase {
    std::once_flag made;
    std::unique_ptr<BoundCalibrator> bound;
  };
  const CaseStream& stream = context.stream;
  std::vector<BoundCase> cases(static_cast<size_t>(stream.num_cases()));
  std::vector<LossTotals> totals(static_cast<size_t>(stream.num_workers()));
  std::vector<TileBuffer> tiles(totals.size());
  std::vector<EmitBuffer> emits(totals.size());
  stream.ForEachBlock(
      stage,
      [&](VoxelBlock& block, int64_t c, int worker) {
        const auto w = static_cast<size_t>(worker);
        BoundCase& own = cases[static_cast<size_t>(c)];
        std::call_once(own.made, [&] {
          own.bound = calibrator.Bind(block.reader(), context.pooling, BindOptionsOf(stream));
        });
        for (int64_t t = 0; t < block.num_tiles(); ++t) {
          const Tile tile = block.PoolTileInto(t, context.pooling, &tiles[w]);
          const TileProbs out = emits[w].Reserve(tile.num_classes);
          own.bound->Apply(tile, out);
          totals[w].Add(tile, out.log_label);
        }
        totals[w].Flush();
      },
      [&](int64_t c, const CaseReader&) { cases[static_cast<size_t>(c)].bound.reset(); });
  for (size_t w = 1; w < totals.size(); ++w) totals[0].Merge(totals[w]);
  return totals[0].sum() / static_cast<double>(context.survey.labelled);
}

}  // namespace segcal
