// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "formats/onnx_builder.h"
#include "train/net/unet.h"

namespace segcal::train {

// Adds a network to a graph: logits (N, C, spatial...) of normalised images (N, channels,
// spatial...) whose sides are whole strides of the network. In a graph of volumes, a network of two
// axes takes the planes along the first one by one.
std::string AddUNet(const UNet& net, const UNetState& state, std::string x, OnnxBuilder* g);

}  // namespace segcal::train
