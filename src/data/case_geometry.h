// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "data/case_reader.h"

namespace segcal {

// A NIfTI file that says where the voxels of a case are in space: its labels, a member, its image,
// or a file with the name of a member and the ending .nii.gz or .nii, which nnU-Net writes beside
// it; the first that has the size of the case. Empty where there is none.
std::string GeometryFile(const Dataset& dataset, const Case& entry, const CaseReader& reader);

}  // namespace segcal
