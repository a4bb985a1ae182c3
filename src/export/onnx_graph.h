// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "export/onnx_pooling.h"
#include "segcal/onnx.h"

namespace segcal {

// An Error unless the options make sense for the model.
void CheckOnnxOptions(const ModelState& state, const OnnxOptions& options);

// A graph from its members to the outputs that are asked for, without the inputs of the members.
// `image` names the image if there is one.
OnnxGraph MakeOnnxGraph(const ModelState& state,
                        const GraphMembers& members,
                        const std::string& image,
                        OnnxBuilder* g,
                        const OnnxOptions& options);

// What a graph says about itself; keys begin with the prefix.
OnnxMetadata MakeOnnxMetadata(const ModelState& state, const std::string& prefix);

// An Error where a file of protocol buffers cannot be that long.
void CheckOnnxSize(int64_t bytes, const std::string& what);

}  // namespace segcal
