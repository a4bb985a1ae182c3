// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "segcal/properties.h"  // IWYU pragma: export

namespace segcal {

// What a calibrator looks at beside the voxel itself. All zero: it gets tiles and nothing else.
struct Needs {
  int64_t halo = 0;         // voxels on each side, in plane
  bool image = false;       // the input image of the case
  bool whole_case = false;  // a pass over the case before the first tile
};

// A condition on the parameters that a declared property rests on, and how well it holds.
struct Claim {
  std::string what;      // "every gap weight is at least 0"
  std::string property;  // "translation_invariant" or "preserves"
  double found = 0.0;
  double allowed = 0.0;
  bool holds = false;
};

}  // namespace segcal
