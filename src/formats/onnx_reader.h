// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx.h"

namespace segcal {

// An input or output of a graph as its file describes it.
struct OnnxPort {
  std::string name;
  int64_t type = 0;  // number of the element type; 0: not a tensor, or unknown
  std::optional<std::vector<OnnxDim>> shape;  // a size that is neither known nor named is "?"
};

// What has to be known of a model to join another graph to it.
struct OnnxOutline {
  int64_t ir_version = 0;
  int64_t opset = 0;  // of the standard operators; 0: it uses none
  std::vector<OnnxPort> inputs;
  std::vector<OnnxPort> outputs;
  std::set<std::string> names;  // of values, inner graphs included
  std::set<std::string> metadata;
  bool external_data = false;  // some weights are in files beside it
};

// Reads the bytes of an ONNX file, which may come from anywhere: an Error says where they are not
// one. `where` names the file.
OnnxOutline ReadOnnx(std::string_view bytes, const std::string& where);

// The bytes with the parts of a graph added to those of theirs, and metadata; outputs that are
// named in `dropped` are no longer outputs. Everything else stays as it is, byte for byte.
std::string JoinOnnx(std::string_view bytes,
                     const std::set<std::string>& dropped,
                     const OnnxGraph& graph,
                     const OnnxMetadata& metadata,
                     const std::string& where);

}  // namespace segcal
