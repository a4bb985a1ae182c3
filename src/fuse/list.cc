// SPDX-License-Identifier: Apache-2.0
#include "core/throw.h"
#include "fuse/method.h"

namespace segcal {

extern const FusionInfo kJointLabelFusion, kMajority, kPlurality, kWeightedVoting;

const std::vector<const FusionInfo*>& Fusions() {
  static const std::vector<const FusionInfo*> fusions = {
      &kJointLabelFusion, &kWeightedVoting, &kPlurality, &kMajority};
  return fusions;
}

const FusionInfo& FindFusion(const std::string& name) {
  std::vector<std::string> names;
  for (const FusionInfo* info : Fusions()) {
    if (name == info->name) return *info;
    names.emplace_back(info->name);
  }
  Throw(ErrorCode::kInvalidArgument,
        "unknown fusion method \"{}\"; there are {}",
        name,
        fmt::join(names, ", "));
}

std::vector<FusionDescription> ListFusions() {
  std::vector<FusionDescription> list;
  for (const FusionInfo* info : Fusions())
    list.push_back({.name = info->name, .summary = info->summary});
  return list;
}

}  // namespace segcal
