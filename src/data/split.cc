// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/rng.h"
#include "core/throw.h"
#include "segcal/dataset.h"

namespace segcal {
namespace {

// The random stream of splits, so that other uses of the same seed are independent of it.
constexpr uint64_t kSplitStream = 0x53504C4954;

// Group names in order of first appearance; a case without one is a group of its own.
std::vector<std::string> ListGroups(const Dataset& dataset) {
  std::vector<std::string> groups;
  for (const Case& c : dataset.cases) {
    const std::string group = c.group.empty() ? "case " + c.id : "group " + c.group;
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  return groups;
}

void Shuffle(std::vector<std::string>* groups, uint64_t seed) {
  Rng rng(seed, kSplitStream);
  for (size_t i = groups->size(); i > 1; --i) {
    std::swap((*groups)[i - 1], (*groups)[static_cast<size_t>(rng.Below(static_cast<int64_t>(i)))]);
  }
}

// Cumulative number of groups after each part, by rounding cumulative shares: parts differ from
// their exact share by less than one group, and the last ends at the total.
std::vector<size_t> Ends(const std::vector<std::pair<std::string, double>>& proportions,
                         size_t total) {
  double sum = 0.0;
  for (const auto& [name, share] : proportions) {
    if (!(share > 0.0) || !std::isfinite(share)) {
      Throw(ErrorCode::kInvalidArgument, "split \"{}\": share {} is not positive", name, share);
    }
    sum += share;
  }
  std::vector<size_t> ends;
  double cumulative = 0.0;
  for (const auto& [name, share] : proportions) {
    cumulative += share;
    ends.push_back(
        static_cast<size_t>(std::llround(cumulative / sum * static_cast<double>(total))));
  }
  return ends;
}

}  // namespace

void AssignSplits(Dataset* dataset,
                  const std::vector<std::pair<std::string, double>>& proportions,
                  uint64_t seed) {
  if (proportions.empty()) Throw(ErrorCode::kInvalidArgument, "no splits are named");
  std::vector<std::string> groups = ListGroups(*dataset);
  Shuffle(&groups, seed);
  const std::vector<size_t> ends = Ends(proportions, groups.size());
  std::map<std::string, std::string> split_of;
  for (size_t g = 0, part = 0; g < groups.size(); ++g) {
    while (part + 1 < ends.size() && g >= ends[part]) ++part;
    split_of[groups[g]] = proportions[part].first;
  }
  for (Case& c : dataset->cases)
    c.split = split_of.at(c.group.empty() ? "case " + c.id : "group " + c.group);
}

}  // namespace segcal
