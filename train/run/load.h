// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "train/net/unet.h"
#include "train/run/networks.h"

namespace segcal::train {

// The network of the best epoch.
UNetState LoadNetwork(const std::string& folder, const NetworkKey& key, const UNet& net);

}  // namespace segcal::train
