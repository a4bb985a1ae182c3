// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "segcal/dataset.h"

namespace segcal::train {

// One network of a run.
struct NetworkKey {
  int64_t member = 0;
  int64_t fold = -1;  // the part of the training cases that it has not seen; -1: it has seen all
};

inline constexpr int64_t kMaxMembers = 1000;

// "member 0", "member 0, fold 2"
std::string Name(const NetworkKey& key);

// All networks of a run: of every member in turn, one per fold or, without folds, one.
std::vector<NetworkKey> ListNetworks(int64_t members, int64_t folds);

// Deals cases into parts at random, whole groups at a time, as even as groups allow; by seed.
std::map<std::string, int64_t> DealFolds(Dataset dataset, int64_t folds, uint64_t seed);

// Where the files of a run are.
std::string RunFile(const std::string& folder);
std::string NetworkFolder(const std::string& folder, const NetworkKey& key);
std::string LastFile(const std::string& folder, const NetworkKey& key);  // after the last epoch
std::string BestFile(const std::string& folder, const NetworkKey& key);  // best validation score

}  // namespace segcal::train
