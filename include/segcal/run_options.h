// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "segcal/progress.h"

namespace segcal {

// How to go through a data set; the same for every operation.
struct RunOptions {
  int threads = 0;                    // 0: all available; results do not depend on it
  int64_t memory = int64_t{2} << 30;  // bytes this may keep resident, at least 64 MiB
  std::string cache_dir;              // for decoded data that does not fit; empty: the system's
  bool skip_bad = false;              // leave out cases that cannot be read, and report them
  ProgressCallback progress;
};

}  // namespace segcal
