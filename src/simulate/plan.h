// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "segcal/simulate.h"
#include "simulate/scenes.h"

namespace segcal {

// Options checked and completed from the preset.
struct SimulationPlan {
  const ScenePreset* preset = nullptr;
  SimulateOptions options;  // num_classes, size and ignore_fraction filled in
  int64_t num_voxels = 0;   // of a case
  DType dtype = DType::kF32;
  bool probabilities = false;
  // Stored logits are the scene's scores times this: what the true map's temperature undoes.
  double sharpness = 1.0;

  int64_t num_classes() const noexcept { return options.num_classes; }
  const std::vector<int64_t>& shape() const noexcept { return options.size; }
  bool HasVoid() const noexcept { return options.ignore_fraction > 0.0; }
};

inline constexpr uint8_t kVoidLabel = 255;

SimulationPlan MakePlan(const SimulateOptions& options);

// Calls work(first, end) for consecutive blocks of voxels of a case, in parallel.
void ForVoxelBlocks(const SimulationPlan& plan,
                    const std::function<void(int64_t block, int64_t first, int64_t end)>& work);
int64_t NumVoxelBlocks(const SimulationPlan& plan) noexcept;

}  // namespace segcal
