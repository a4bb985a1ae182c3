// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "train/images/image_case.h"
#include "train/net/unet.h"

namespace segcal::train {

struct PredictorOptions {
  // Voxels per axis of tiles that overlap by half and are blended; 0: whole planes or volumes.
  int64_t tile = 0;
  bool mirror = false;  // the mean over all mirrored views
};

// Logits (C, D, H, W) of a normalised image.
Tensor PredictImage(const UNet& net,
                    const UNetState& state,
                    const ImageCase& image,
                    const PredictorOptions& options);

}  // namespace segcal::train
