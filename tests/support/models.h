// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "pipeline/model.h"
#include "segcal/dataset.h"
#include "segcal/model.h"
#include "tests/support/scene.h"

namespace segcal::testing {

// softmax(beta z) of this pooling, not fitted on anything.
Model TemperatureModel(const Dataset& dataset, double beta, const std::string& pooling = "z");

// A pipeline fitted to a scene.
Model FitAs(const std::string& pipeline, const Scene& scene, uint64_t seed = 0, int threads = 2);

// The model with other parameters; such as its calibrator does not know are an Error.
Model WithParameters(const Model& model, const Json& parameters);

// Model::Apply on the members of one case of a scene, as (C, voxels).
std::vector<float> ApplyInMemory(const Model& model,
                                 const Scene& scene,
                                 size_t case_index,
                                 int threads = 1);

}  // namespace segcal::testing
