// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "segcal/index.h"

namespace segcal {

// What was found for one case.
struct CaseMatch {
  std::string path;
  std::map<std::string, std::string> by_class;  // paths, where there is one per class
  std::string group;
};
using FilesByCase = std::map<std::string, CaseMatch>;

// The predictions of one member.
struct MemberFiles {
  std::string name;  // for messages
  FilesByCase files;
};

struct IndexRules {
  bool allow_missing = false;  // labels, images and masks
  bool batch = false;          // patterns need no {case}
};

// Fills dataset->cases from files; paths become relative to dataset->folder. Every case must have
// all members; a case without labels, image or mask where a pattern for them is given is an Error,
// unless that is allowed. Files of single classes are in the order of dataset->classes where they
// have their names, else in natural order, which gives the names if there are none.
void IndexFiles(const IndexPatterns& patterns, const IndexRules& rules, Dataset* dataset);

// The same for members that are found already; patterns.members is not looked at.
void IndexMembers(const std::vector<MemberFiles>& members,
                  const IndexPatterns& patterns,
                  const IndexRules& rules,
                  Dataset* dataset);

// Replaces every case, whose files are batches, by one case per item.
void SplitBatches(Dataset* dataset);

}  // namespace segcal
