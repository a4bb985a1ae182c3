// SPDX-License-Identifier: Apache-2.0
#include "train/run/networks.h"

#include <fmt/format.h>

#include <set>

#include "core/throw.h"

namespace segcal::train {

std::string Name(const NetworkKey& key) {
  return key.fold < 0 ? fmt::format("member {}", key.member)
                      : fmt::format("member {}, fold {}", key.member, key.fold);
}

std::vector<NetworkKey> ListNetworks(int64_t members, int64_t folds) {
  std::vector<NetworkKey> keys;
  for (int64_t m = 0; m < members; ++m) {
    if (folds == 0) keys.push_back({.member = m});
    for (int64_t f = 0; f < folds; ++f) keys.push_back({.member = m, .fold = f});
  }
  return keys;
}

std::map<std::string, int64_t> DealFolds(Dataset dataset, int64_t folds, uint64_t seed) {
  std::vector<std::pair<std::string, double>> parts;
  for (int64_t f = 0; f < folds; ++f) parts.emplace_back(std::to_string(f), 1.0);
  AssignSplits(&dataset, parts, seed);
  std::map<std::string, int64_t> fold_of;
  std::set<std::string> used;
  for (const Case& entry : dataset.cases) {
    fold_of[entry.id] = std::stoll(entry.split);
    used.insert(entry.split);
  }
  if (std::ssize(used) < folds) {
    Throw(ErrorCode::kInvalidArgument,
          "folds {}: the {} training cases are of fewer groups; at most {} folds are possible",
          folds,
          dataset.cases.size(),
          used.size());
  }
  return fold_of;
}

std::string RunFile(const std::string& folder) { return folder + "/training.json"; }
std::string NetworkFolder(const std::string& folder, const NetworkKey& key) {
  const std::string member = fmt::format("{}/member{}", folder, key.member);
  return key.fold < 0 ? member : fmt::format("{}/fold{}", member, key.fold);
}
std::string LastFile(const std::string& folder, const NetworkKey& key) {
  return NetworkFolder(folder, key) + "/last.net";
}
std::string BestFile(const std::string& folder, const NetworkKey& key) {
  return NetworkFolder(folder, key) + "/best.net";
}

}  // namespace segcal::train
