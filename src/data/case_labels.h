// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/case_reader.h"

namespace segcal {

// Labels of voxels [first, first + labels.size()) of a case: class index, or kNoLabel where
// ignored, masked, or the case has no labels. `masked` gets 1 where the mask leaves a voxel out and
// is empty without a mask.
void ReadCaseLabels(const CaseReader& reader,
                    int64_t first,
                    std::span<int32_t> labels,
                    std::vector<uint8_t>* masked);

// The labels of the whole case.
std::vector<int32_t> ReadAllLabels(const CaseReader& reader);

}  // namespace segcal
