// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "methods/shared/graph.h"
#include "pipeline/model.h"

namespace segcal {

// The members of a graph: values (N, C, spatial...) of one type.
struct GraphMembers {
  std::vector<std::string> names;
  std::vector<OnnxDim> shape;
  bool in_float64 = true;  // how several are averaged; a single one is taken in float32
};

// What kernels/pool.h does: the mean of the members, its decision, and what is left of it when the
// largest is subtracted.
GraphInput AddPooling(const ModelState& state, const GraphMembers& members, OnnxBuilder* g);

}  // namespace segcal
