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

double SumOfShares(const std::vector<std::pair<std::string, double>>& proportions) {
  double sum = 0.0;
  for (const auto& [name, share] : proportions) {
    if (!(share > 0.0) || !std::isfinite(share)) {
      Throw(ErrorCode::kInvalidArgument, "split \"{}\": share {} is not positive", name, share);
    }
    sum += share;
  }
  return sum;
}

// Gives every empty part one group of the largest, as long as there are groups for all.
void FillEmpty(std::vector<size_t>* counts, size_t total) {
  for (size_t& count : *counts) {
    const auto largest = std::max_element(counts->begin(), counts->end());
    if (count > 0 || total < counts->size()) continue;
    --*largest;
    ++count;
  }
}

// Groups of each part by largest remainder: every part gets the whole groups of its exact share,
// and those left go to the parts with the largest fractions, the first ones where they are equal.
std::vector<size_t> PartSizes(const std::vector<std::pair<std::string, double>>& proportions,
                              size_t total) {
  const double sum = SumOfShares(proportions);
  std::vector<size_t> counts;
  std::vector<double> fractions;
  for (const auto& [name, share] : proportions) {
    const double exact = share * static_cast<double>(total) / sum;
    counts.push_back(static_cast<size_t>(exact));
    fractions.push_back(exact - std::floor(exact));
  }
  for (size_t left = total - std::accumulate(counts.begin(), counts.end(), size_t{0}); left > 0;
       --left) {
    const auto next = std::max_element(fractions.begin(), fractions.end());
    ++counts[static_cast<size_t>(next - fractions.begin())];
    *next = -1.0;
  }
  FillEmpty(&counts, total);
  return counts;
}

}  // namespace

void AssignSplits(Dataset* dataset,
                  const std::vector<std::pair<std::string, double>>& proportions,
                  uint64_t seed) {
  if (proportions.empty()) Throw(ErrorCode::kInvalidArgument, "no splits are named");
  std::vector<std::string> groups = ListGroups(*dataset);
  Shuffle(&groups, seed);
  const std::vector<size_t> sizes = PartSizes(proportions, groups.size());
  std::map<std::string, std::string> split_of;
  auto next = groups.begin();
  for (size_t part = 0; part < sizes.size(); ++part) {
    for (size_t g = 0; g < sizes[part]; ++g) split_of[*next++] = proportions[part].first;
  }
  for (Case& c : dataset->cases)
    c.split = split_of.at(c.group.empty() ? "case " + c.id : "group " + c.group);
}

}  // namespace segcal
