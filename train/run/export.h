// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace segcal::train {

struct ExportNetworksResult {
  std::vector<std::string> outputs;  // one per network
};

// The networks of a run as one ONNX graph, written to `path`: from an image (N, channels,
// spatial...) with the intensities of its file to the logits (N, C, spatial...) of every network.
// Normalisation is part of it, and any size is fine; it does what Predict does on whole images.
ExportNetworksResult ExportNetworks(const std::string& run, const std::string& path, int64_t opset);

}  // namespace segcal::train
