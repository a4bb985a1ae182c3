// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace segcal {

// How far a long operation has come. `done` and `total` count voxels times passes where that is
// known; total 0 means unknown.
struct Progress {
  std::string stage;  // for example "fit ts(z), pass 2"
  int64_t done = 0;
  int64_t total = 0;
  // Where `done` counts something else, such as the epochs of a training: what there is to see.
  std::string detail = {};
};

// Called from one thread at a time, often; must be cheap. Empty means nobody listens.
using ProgressCallback = std::function<void(const Progress&)>;

}  // namespace segcal
