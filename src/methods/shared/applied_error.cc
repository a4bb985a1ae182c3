// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/applied_error.h"

#include "kernels/emit.h"
#include "kernels/scores.h"
#include "kernels/softmax.h"
#include "measures/means.h"
#include "methods/shared/bound_case_pass.h"
#include "methods/shared/emit_buffer.h"
#include "methods/shared/reliability.h"

namespace segcal {
namespace {

struct ReliabilityChange {
  Reliability before;
  Reliability after;

  static constexpr auto SumFields() {
    return std::tuple(&ReliabilityChange::before, &ReliabilityChange::after);
  }
};

// Adds the labelled voxels of a tile for which these probabilities were emitted.
void AddEmitted(const Tile& tile, const float* probs, Reliability* reliability) {
  alignas(64) float confidence[kTileVoxels];
  alignas(64) uint16_t predicted[kTileVoxels];
  uint8_t correct[kTileVoxels];
  TopLabelTile(probs, tile.num_classes, confidence, predicted);
  int64_t n = 0;
  for (int64_t v = 0; v < tile.count; ++v) {
    if (tile.labels[v] == kNoLabel) continue;
    confidence[n] = confidence[v];
    correct[n++] = tile.labels[v] == predicted[v] ? 1 : 0;
  }
  reliability->Add(confidence, correct, n);
}

}  // namespace

AppliedError MeasureAppliedError(const CaseStream& stream,
                                 const Pooling& pooling,
                                 const Calibrator& calibrator,
                                 const std::string& stage) {
  const bool keeps = calibrator.properties().preserves != Preserves::kNone;
  const auto add = [&](const Tile& tile, const BoundCalibrator& bound, ReliabilityChange* sums) {
    EmitBuffer buffer;
    const TileProbs out = buffer.Reserve(tile.num_classes);
    SoftmaxTile(tile, 1.0, out);
    KeepWinner(tile.decision, tile.num_classes, out.probs);
    AddEmitted(tile, out.probs, &sums->before);
    bound.Apply(tile, out);
    if (keeps) KeepWinner(tile.decision, tile.num_classes, out.probs);
    AddEmitted(tile, out.probs, &sums->after);
  };
  const auto end = [](int64_t, const ReliabilityChange& sums) {
    return AppliedError{.before = sums.before.Error(), .after = sums.after.Error()};
  };
  std::vector<double> before;
  std::vector<double> after;
  for (const AppliedError& of_case :
       ReduceBoundCases(stream, stage, pooling, calibrator, ReliabilityChange{}, add, end)) {
    before.push_back(of_case.before);
    after.push_back(of_case.after);
  }
  return {.before = MeanOfDefined(before), .after = MeanOfDefined(after)};
}

}  // namespace segcal
