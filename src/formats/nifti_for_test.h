// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "formats/nifti_header.h"

// For the unit tests of this folder only.
namespace segcal {

// A volume of 4 x 5 x 6 float32 voxels.
inline NiftiHeader SmallHeader() {
  NiftiHeader header;
  header.dtype = DType::kF32;
  header.dim = {3, 4, 5, 6, 1, 1, 1, 1};
  header.geometry.pixdim = {1, 0.5, 0.75, 2, 1, 1, 1, 1};
  header.geometry.units = 2;
  return header;
}

}  // namespace segcal
