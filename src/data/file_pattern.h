// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

namespace segcal {

// A field is a name in braces that stands for part of a path: {case}, {member}, {class} or {group}.

// A file found by a pattern, with what its fields stood for.
struct PatternMatch {
  std::string path;
  std::map<std::string, std::string> values;  // "case" -> "0001"
};

// Files whose path has the form of `pattern`: {case}, {member}, {class}, {group} stand for one or
// more characters without a slash (the same text wherever the same field appears twice), * for any
// number of them. Sorted so that m2 comes before m10. No match is an empty list.
std::vector<PatternMatch> FindFiles(const std::string& pattern);

// Whether a < b with runs of digits compared as numbers.
bool NaturalLess(const std::string& a, const std::string& b);

}  // namespace segcal
