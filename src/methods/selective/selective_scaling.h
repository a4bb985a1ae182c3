// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tuple>

#include "methods/selective/base_decision.h"
#include "methods/selective/selector_network.h"

namespace segcal {

// What flattens a voxel for good: the largest temperature that is chosen, and that a model may
// have.
inline constexpr double kLargestTemperature = 1e10;

// What is taken for the logarithm of 0.
inline constexpr double kSmallestProb = 0x1p-126;

// Divides the logarithms of the emitted probabilities of voxel v by a temperature and normalises
// them again (SS8); the winner stays strictly largest.
void ScaleVoxel(
    const Tile& tile, int64_t v, double temperature, uint16_t winner, const TileProbs& out);

// What is done to what a base has emitted: voxels that the selector flags are scaled by one
// temperature, the others by another. Without a selector all stay.
struct SelectiveScaling {
  std::optional<Selector> selector;
  double temperature = 1.0;       // T1
  double kept_temperature = 1.0;  // T2

  // At temperatures of 1 what a base has emitted stays, to the bit.
  bool scales() const noexcept {
    return selector && (temperature != 1.0 || kept_temperature != 1.0);
  }
  void Apply(const Tile& tile,
             const Calibrator& base,
             const BoundCalibrator& bound,
             const TileProbs& out) const;
  // The same of the values that a base has added to a graph.
  std::string AddToGraph(const GraphInput& in,
                         const std::string& probs,
                         const Calibrator& base,
                         OnnxBuilder* g) const;
};

// How well a selector finds mispredictions on some voxels.
struct SelectionCounts {
  int64_t labelled = 0;
  int64_t wrong = 0;
  int64_t flagged = 0;
  int64_t flagged_wrong = 0;

  static constexpr auto SumFields() {
    using S = SelectionCounts;
    return std::tuple(&S::labelled, &S::wrong, &S::flagged, &S::flagged_wrong);
  }
  double recall() const;     // NaN without mispredictions
  double precision() const;  // NaN without flagged voxels
};
SelectionCounts CountSelection(const CaseStream& stream,
                               const Pooling& pooling,
                               const Calibrator& base,
                               const Selector& selector);

}  // namespace segcal
