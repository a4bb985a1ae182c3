// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "data/case_reader.h"
#include "pipeline/model.h"
#include "pipeline/outputs.h"

namespace segcal {

// Applies a model, bound to an opened case, to all its voxels, tile by tile on `threads` threads,
// and hands over what it emits for use: visit(emitted, worker), worker in [0, threads). Masked
// voxels keep the uncalibrated probabilities.
using EmittedVisitor = std::function<void(const EmittedTile& emitted, int worker)>;
void EmitCase(const ModelState& state,
              const BoundCalibrator& bound,
              const CaseReader& reader,
              int threads,
              const EmittedVisitor& visit);

}  // namespace segcal
