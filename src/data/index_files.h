// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "data/file_pattern.h"
#include "segcal/index.h"

namespace segcal {

using FilesByCase = std::map<std::string, PatternMatch>;

// The predictions of one member.
struct MemberFiles {
  std::string name;  // for messages
  FilesByCase files;
};

// Fills dataset->cases from files; paths become relative to dataset->folder. Every case must have
// all members; a case without labels, image or mask where a pattern for them is given is an Error,
// unless allow_missing.
void IndexFiles(const IndexPatterns& patterns, bool allow_missing, Dataset* dataset);

// The same for members that are found already; patterns.members is not looked at.
void IndexMembers(const std::vector<MemberFiles>& members,
                  const IndexPatterns& patterns,
                  bool allow_missing,
                  Dataset* dataset);

}  // namespace segcal
