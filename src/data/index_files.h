// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "segcal/index.h"

namespace segcal {

// Fills dataset->cases from files; paths become relative to dataset->folder. Every case must have
// all members; a case without labels, image or mask where a pattern for them is given is an Error,
// unless allow_missing.
void IndexFiles(const IndexPatterns& patterns, bool allow_missing, Dataset* dataset);

// Classes, background and ignore label from nnU-Net's dataset.json; region-based label sets are
// refused.
void ReadNnunetLabels(const std::string& path, Dataset* dataset);

}  // namespace segcal
