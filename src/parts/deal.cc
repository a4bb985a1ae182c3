// SPDX-License-Identifier: Apache-2.0
#include "parts/deal.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/deal.h"
#include "core/text_hash.h"
#include "core/throw.h"
#include "data/array_source.h"
#include "data/case_bytes.h"

namespace segcal {
namespace {

std::string DescribeSource(const Dataset& dataset, const ArraySource& source) {
  if (source.empty()) return "-";
  return fmt::format("{}|{}|{}|{}",
                     source.path(),
                     fmt::join(source.class_paths(), "|"),
                     source.item().value_or(-1),
                     SourceBytes(dataset, source));
}

std::string DescribeCase(const Dataset& dataset, const Case& c) {
  std::string text = fmt::format("\n{}\t{}\t{}", c.id, c.group, fmt::join(c.spacing, ","));
  for (const ArraySource& member : c.members) text += "\t" + DescribeSource(dataset, member);
  for (const ArraySource* source : {&c.labels, &c.image, &c.mask})
    text += "\t" + DescribeSource(dataset, *source);
  return text;
}

// The cases of every group; a case without one is a group of its own.
std::vector<std::vector<size_t>> GroupedCases(const Dataset& dataset) {
  std::vector<std::vector<size_t>> groups;
  std::map<std::string, size_t> known;
  for (size_t c = 0; c < dataset.cases.size(); ++c) {
    const std::string& name = dataset.cases[c].group;
    size_t g = groups.size();
    if (!name.empty()) g = known.emplace(name, g).first->second;
    if (g == groups.size()) groups.emplace_back();
    groups[g].push_back(c);
  }
  return groups;
}

int64_t GroupBytes(const Dataset& dataset, const std::vector<size_t>& cases) {
  int64_t bytes = 0;
  for (const size_t c : cases) bytes += PredictionBytes(dataset, dataset.cases[c]);
  return bytes;
}

}  // namespace

void CheckPart(const Part& part) {
  if (part.count >= 1 && part.index >= 1 && part.index <= part.count) return;
  Throw(ErrorCode::kInvalidArgument,
        "part {}: a number from 1 to the number of parts is required, such as 3/10",
        Name(part));
}

uint64_t HashDataset(const Dataset& dataset) {
  std::string text = fmt::format("{}\n{}\n{} {} {} {} {}",
                                 dataset.name,
                                 fmt::join(dataset.classes, "\t"),
                                 Name(dataset.input.value()),
                                 dataset.ignore_label.value_or(-1),
                                 dataset.background.value_or(-1),
                                 Name(dataset.layout),
                                 dataset.key);
  for (const auto& [from, to] : dataset.label_map) text += fmt::format(" {}>{}", from, to);
  for (const Case& c : dataset.cases) text += DescribeCase(dataset, c);
  return HashText(text);
}

Part ParsePart(const std::string& text) {
  Part part;
  char rest = 0;
  long long index = 0;
  long long count = 0;
  const bool digits = text.find_first_not_of("0123456789/") == std::string::npos;
  if (!digits || std::sscanf(text.c_str(), "%9lld/%9lld%c", &index, &count, &rest) != 2) {
    Throw(ErrorCode::kInvalidArgument,
          "part \"{}\": two numbers are required, the part and how many there are, such as 3/10",
          text);
  }
  part.index = index;
  part.count = count;
  CheckPart(part);
  return part;
}

std::string Name(const Part& part) { return fmt::format("{}/{}", part.index, part.count); }

Dataset SelectPart(const Dataset& dataset, const Part& part) {
  CheckPart(part);
  const std::vector<std::vector<size_t>> groups = GroupedCases(dataset);
  std::vector<int64_t> sizes;
  for (const auto& cases : groups) sizes.push_back(GroupBytes(dataset, cases));
  const std::vector<int64_t> dealt = DealBySize(sizes, part.count);
  std::set<size_t> own;
  for (size_t g = 0; g < groups.size(); ++g) {
    if (dealt[g] == part.index - 1) own.insert(groups[g].begin(), groups[g].end());
  }
  Dataset selected = dataset;
  selected.cases.clear();
  for (const size_t c : own) selected.cases.push_back(dataset.cases[c]);
  return selected;
}

}  // namespace segcal
