// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace segcal {

// How far a long operation has come. `done` and `total` count voxels times passes where that is
// known; total 0 means unknown.
struct Progress {
  std::string stage;  // for example "fit ts(z), pass 2"; empty: nothing has begun yet
  int64_t done = 0;
  int64_t total = 0;
  // Where `done` counts something else, such as the epochs of a training: what there is to see.
  std::string detail = {};
};

// Called on the thread that called the library: at the beginning and the end of a stage, after
// every epoch of a training, and in between about every 50 ms, also where there is nothing new.
// Returns whether to go on. False ends the operation within about a second by an Error of code
// kCancelled: no file is left half-written, and what was complete by then (files of finished cases,
// checkpoints) stays. An exception thrown here ends it in the same way and arrives at the caller.
// Empty means nobody listens.
using ProgressCallback = std::function<bool(const Progress&)>;

// A callback that listens and never stops anything.
inline ProgressCallback ListenOnly(std::function<void(const Progress&)> listener) {
  return [listener = std::move(listener)](const Progress& progress) {
    listener(progress);
    return true;
  };
}

}  // namespace segcal
