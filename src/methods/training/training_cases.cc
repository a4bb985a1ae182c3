// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "methods/training/training.h"

namespace segcal {
namespace {

constexpr int64_t kHeldShare = 5;  // one group of so many is held out
constexpr const char* kHeld = "held out";

std::vector<int64_t> AllCases(const CaseStream& stream) {
  std::vector<int64_t> cases(static_cast<size_t>(stream.num_cases()));
  std::iota(cases.begin(), cases.end(), 0);
  return cases;
}

int64_t CountGroups(const Dataset& dataset) {
  std::set<std::pair<bool, std::string>> groups;
  for (const Case& c : dataset.cases) {
    groups.insert({c.group.empty(), c.group.empty() ? c.id : c.group});
  }
  return static_cast<int64_t>(groups.size());
}

}  // namespace

TrainingCases SplitForTraining(const FitContext& context) {
  const CaseStream& stream = context.stream;
  if (context.validation != nullptr) {
    return {.training = stream.Part(AllCases(stream)),
            .validation = context.validation->Part(AllCases(*context.validation)),
            .warnings = {}};
  }
  const int64_t groups = CountGroups(stream.dataset());
  if (groups < 2) {
    return {.training = stream.Part(AllCases(stream)),
            .validation = stream.Part(AllCases(stream)),
            .warnings = {"no validation cases and a single group: the best epoch was chosen on the "
                         "voxels trained on"}};
  }
  Dataset dataset = stream.dataset();
  const auto held = static_cast<double>(std::max<int64_t>(1, groups / kHeldShare));
  AssignSplits(
      &dataset, {{"train", static_cast<double>(groups) - held}, {kHeld, held}}, context.seed);
  std::vector<int64_t> inside;
  std::vector<int64_t> outside;
  for (size_t c = 0; c < dataset.cases.size(); ++c) {
    (dataset.cases[c].split == kHeld ? outside : inside).push_back(static_cast<int64_t>(c));
  }
  return {
      .training = stream.Part(inside),
      .validation = stream.Part(outside),
      .warnings = {fmt::format("no validation cases: {} of {} cases were held out to choose the "
                               "best epoch by",
                               outside.size(),
                               dataset.cases.size())}};
}

}  // namespace segcal
