// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "segcal/dataset.h"

namespace segcal {

// Patterns as in data/file_pattern.h; {case} is required in each.
struct IndexPatterns {
  // One pattern with {member}, or one per member.
  std::vector<std::string> members;
  std::string labels;
  std::string images;
  std::string masks;
};

// Fills dataset->cases from files; paths become relative to dataset->folder. Every case must have
// all members; a case without labels, image or mask where a pattern for them is given is an Error,
// unless allow_missing.
void IndexFiles(const IndexPatterns& patterns, bool allow_missing, Dataset* dataset);

// Classes, background and ignore label from nnU-Net's dataset.json; region-based label sets are
// refused.
void ReadNnunetLabels(const std::string& path, Dataset* dataset);

}  // namespace segcal
