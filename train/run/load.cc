// SPDX-License-Identifier: Apache-2.0
#include "train/run/load.h"

#include "core/file.h"
#include "core/throw.h"
#include "train/run/state_file.h"

namespace segcal::train {

UNetState LoadNetwork(const std::string& folder, const NetworkKey& key, const UNet& net) {
  const std::string file = BestFile(folder, key);
  if (!IsFile(file)) {
    Throw(ErrorCode::kIo,
          "{}: not there; the training of {} has not completed an epoch",
          file,
          Name(key));
  }
  UNetState state = net.Initialise(Rng(0, 0));
  LoadState(file, {state.weights, state.statistics});
  return state;
}

}  // namespace segcal::train
