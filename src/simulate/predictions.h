// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/plan.h"
#include "simulate/streams.h"

namespace segcal {

// The logits all members of a case share: the scene's scores, sharpened. [classes][voxels].
std::vector<float> SharedLogits(const SimulationPlan& plan,
                                const Scene& scene,
                                const CaseStreams& streams);

// What a member says, exactly as it can be stored: the shared logits, its own smooth noise and
// offset, turned to probabilities where asked, rounded to the storage type. [classes][voxels].
std::vector<float> MemberPrediction(const SimulationPlan& plan,
                                    const std::vector<float>& shared,
                                    int64_t member,
                                    const CaseStreams& streams);

void SavePrediction(const std::string& path,
                    const SimulationPlan& plan,
                    const std::vector<float>& values);

// Adds a stored prediction to a running mean of logits: z, or log p with rows summing to 1 and the
// floor of probability input. `pooled` is [classes][voxels].
void AddToPool(const SimulationPlan& plan,
               const std::vector<float>& stored,
               std::vector<double>* pooled);

}  // namespace segcal
