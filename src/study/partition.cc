// SPDX-License-Identifier: Apache-2.0
#include "study/partition.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/throw.h"

namespace segcal {
namespace {

constexpr std::array<const char*, 3> kParts = {"calibration", "validation", "test"};
constexpr std::array<double, 3> kDefaultShares = {0.4, 0.2, 0.4};

bool IsPart(const std::string& split) {
  return std::find(kParts.begin(), kParts.end(), split) != kParts.end();
}

std::string GroupOf(const Case& c) { return c.group.empty() ? "case " + c.id : "group " + c.group; }

Dataset CasesOf(const Dataset& dataset, const std::string& split) {
  Dataset part = dataset;
  std::erase_if(part.cases, [&](const Case& c) { return c.split != split; });
  return part;
}

bool NamesParts(const Dataset& dataset) {
  return std::any_of(
      dataset.cases.begin(), dataset.cases.end(), [](const Case& c) { return IsPart(c.split); });
}

// What can be divided.
Dataset StudyCases(const Dataset& dataset) {
  Dataset cases = dataset;
  const bool named = NamesParts(dataset);
  std::erase_if(cases.cases,
                [&](const Case& c) { return c.labels.empty() || (named && !IsPart(c.split)); });
  return cases;
}

// The numbers of groups in the data set's own splits.
std::vector<double> OwnSizes(const Dataset& dataset) {
  std::vector<double> sizes;
  for (const char* part : kParts)
    sizes.push_back(static_cast<double>(CountGroups(CasesOf(dataset, part))));
  return sizes;
}

std::vector<double> ChooseSplit(const Dataset& dataset, const CompareOptions& options) {
  if (!options.split.empty()) {
    if (options.split.size() != kParts.size()) {
      Throw(ErrorCode::kInvalidArgument,
            "split: {} numbers; three are required: calibration, validation, test",
            options.split.size());
    }
    return options.split;
  }
  if (!NamesParts(dataset)) return {kDefaultShares.begin(), kDefaultShares.end()};
  return options.repeats == 1 ? std::vector<double>{} : OwnSizes(dataset);
}

Partition Divide(const Dataset& dataset, const std::vector<double>& split, uint64_t seed) {
  Dataset divided = dataset;
  if (!split.empty()) {
    std::vector<std::pair<std::string, double>> shares;
    for (size_t i = 0; i < kParts.size(); ++i) shares.emplace_back(kParts[i], split[i]);
    AssignSplits(&divided, shares, seed);
  }
  return {.seed = seed,
          .calibration = CasesOf(divided, kParts[0]),
          .validation = CasesOf(divided, kParts[1]),
          .test = CasesOf(divided, kParts[2])};
}

void CheckParts(const Partition& partition, const Dataset& dataset) {
  for (const auto& [part, name] : {std::pair{&partition.calibration, kParts[0]},
                                   std::pair{&partition.validation, kParts[1]},
                                   std::pair{&partition.test, kParts[2]}}) {
    if (!part->cases.empty()) continue;
    Throw(ErrorCode::kInvalidArgument,
          "no case of the data set \"{}\" is left for {}: {} labelled cases in {} groups are "
          "divided into calibration, validation and test",
          dataset.name,
          name,
          dataset.cases.size(),
          CountGroups(dataset));
  }
}

}  // namespace

std::vector<Partition> MakePartitions(const Dataset& dataset,
                                      const CompareOptions& options,
                                      std::vector<double>* split) {
  if (options.repeats < 1)
    Throw(ErrorCode::kInvalidArgument, "{} repeats; at least 1 is required", options.repeats);
  const Dataset cases = StudyCases(dataset);
  *split = ChooseSplit(cases, options);
  std::vector<Partition> partitions;
  for (int64_t r = 0; r < options.repeats; ++r) {
    partitions.push_back(Divide(cases, *split, options.seed + static_cast<uint64_t>(r)));
    CheckParts(partitions.back(), cases);
  }
  return partitions;
}

std::vector<std::string> CaseIds(const Dataset& dataset) {
  std::vector<std::string> ids;
  for (const Case& c : dataset.cases) ids.push_back(c.id);
  return ids;
}

Dataset JoinCases(const Dataset& dataset, const Dataset& first, const Dataset& second) {
  std::set<std::string> ids;
  for (const Dataset* part : {&first, &second}) {
    for (const Case& c : part->cases) ids.insert(c.id);
  }
  Dataset joined = dataset;
  std::erase_if(joined.cases, [&](const Case& c) { return !ids.contains(c.id); });
  return joined;
}

Dataset FirstGroups(const Dataset& dataset, int64_t count, uint64_t seed) {
  const int64_t groups = CountGroups(dataset);
  if (count >= groups) return dataset;
  Dataset divided = dataset;
  AssignSplits(
      &divided,
      {{"first", static_cast<double>(count)}, {"rest", static_cast<double>(groups - count)}},
      seed);
  Dataset first = dataset;
  first.cases.clear();
  for (size_t c = 0; c < divided.cases.size(); ++c) {
    if (divided.cases[c].split == "first") first.cases.push_back(dataset.cases[c]);
  }
  return first;
}

int64_t CountGroups(const Dataset& dataset) {
  std::set<std::string> groups;
  for (const Case& c : dataset.cases) groups.insert(GroupOf(c));
  return static_cast<int64_t>(groups.size());
}

}  // namespace segcal
