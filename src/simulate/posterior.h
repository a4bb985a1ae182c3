// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/plan.h"
#include "simulate/streams.h"
#include "simulate/true_map.h"

namespace segcal {

// Sums over the labelled voxels of a case, or of several.
struct TruthSums {
  int64_t num_voxels = 0;
  int64_t num_labelled = 0;
  int64_t num_correct = 0;  // label = argmax of the stored prediction
  double true_nll = 0.0;
  double true_entropy = 0.0;
  double stored_nll = 0.0;
  double stored_confidence = 0.0;

  void Add(const TruthSums& other) noexcept;
};

struct CaseTruth {
  std::vector<float> eta;       // [classes][voxels]
  std::vector<uint8_t> labels;  // class, or kVoidLabel
  TruthSums sums;
};

// Which voxels have no label: patches that do not depend on the labels, so that what remains is
// still drawn from eta.
std::vector<bool> VoidVoxels(const SimulationPlan& plan, const CaseStreams& streams);

// The true posterior of a case from its pooled logits [classes][voxels], and labels drawn from it.
CaseTruth DrawTruth(const SimulationPlan& plan,
                    const TrueMap& map,
                    const std::vector<double>& pooled,
                    const CaseStreams& streams);

}  // namespace segcal
