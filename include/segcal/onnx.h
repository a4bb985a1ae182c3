// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "segcal/dtype.h"
#include "segcal/export.h"
#include "segcal/model.h"

namespace segcal {

// Calibrators as graphs of ONNX, for ONNX Runtime, TensorRT and others: docs/onnx.md.

struct OnnxOptions {
  // What the graph puts out: "probabilities" (N, C, spatial...), "labels" (N, spatial...) int64,
  // "confidence" (N, spatial...): names of ListOnnxOutputs().
  std::vector<std::string> outputs = {"probabilities"};
  // Begins every name of ours in the graph, outputs included.
  std::string prefix = {};
  // In which several members are averaged, as segcal does: kF64. kF32 for devices without it; then
  // classes whose means agree to the last bits of float32 may be decided otherwise.
  DType pool_type = DType::kF64;

  // Of a graph of its own; one that is appended has what the segmenter says.
  int64_t members = 1;  // inputs, pooled inside the graph
  int64_t spatial_axes = 2;
  DType input_type = DType::kF32;  // or kF16
  int64_t opset = 13;              // version of the operators, 13 to 28
};

// What a graph can put out.
SEGCAL_EXPORT std::vector<std::string> ListOnnxOutputs();

// The bytes of an ONNX file that does what the model does. Inputs, (N, C, spatial...) with N and
// space of any size, are named by their kind: "logits", "log_probs" or "probs", those of several
// members "logits_0", "logits_1", ...; a model that looks at images has an input "image" (N,
// channels, spatial...) beside them. Values are not checked as Apply does: they must be numbers.
SEGCAL_EXPORT std::string ToOnnx(const Model& model, const OnnxOptions& options = {});
// The same into a file, which appears complete or not at all.
SEGCAL_EXPORT void ExportOnnx(const Model& model,
                              const std::string& path,
                              const OnnxOptions& options = {});

// How a calibrator is joined to a network.
struct OnnxJoin {
  std::vector<std::string> outputs = {"logits"};  // of the network: one for each member
  bool keep_outputs = false;                      // whether they stay outputs of the whole
  // The value of the network that is the image, for models that look at one; empty: the whole gets
  // an input "image".
  std::string image = {};
};

// The bytes of a segmenter's ONNX file with the calibrator behind it: one file from image to
// calibrated probabilities, in the versions of operators and format that the segmenter has. The
// segmenter's bytes may come from anywhere; `where` names them in messages. Of the options count
// outputs, prefix and pool_type, and spatial_axes where the segmenter does not say.
SEGCAL_EXPORT std::string AppendToOnnx(const Model& model,
                                       std::string_view segmenter,
                                       const OnnxJoin& join = {},
                                       const OnnxOptions& options = {},
                                       const std::string& where = "segmenter");
// The same with files. Weights that the segmenter keeps in files beside it stay there: then the
// result has to be in the same folder.
SEGCAL_EXPORT void AppendToOnnxFile(const Model& model,
                                    const std::string& segmenter,
                                    const std::string& path,
                                    const OnnxJoin& join = {},
                                    const OnnxOptions& options = {});

}  // namespace segcal
