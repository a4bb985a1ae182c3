// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace segcal {

// Where the voxels of a NIfTI file are in space, for those who need no more of it.
struct NiftiPlace {
  std::array<int64_t, 3> lengths;  // of the axes x, y, z; 1 where there is none
  bool is_ras;                     // the axes run to the right, the front and the top
};

// Reads the header alone; none where the file is of another format.
std::optional<NiftiPlace> ReadNiftiPlace(const std::string& path);

}  // namespace segcal
