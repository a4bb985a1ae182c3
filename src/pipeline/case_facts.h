// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/voxel_block.h"
#include "methods/shared/fit_context.h"
#include "segcal/model.h"

namespace segcal {

// A tile's part of the hash of its case: parts add up modulo 2^64, in any order.
uint64_t HashOfCase(const Tile& tile) noexcept;

// The hash of all cases, in their order.
uint64_t HashOfCases(const std::vector<CaseFacts>& cases) noexcept;

// What is known of a case from its files as a whole; looked at with its first block alone.
void AddCaseFacts(const VoxelBlock& block, CaseFacts* facts);

// What people are warned of, by the name of the case.
struct NamedFacts {
  std::string id;
  int64_t labelled = 0;
  std::vector<int64_t> constant;  // members that predict the same at every voxel
  bool has_labels = true;
};
std::vector<int64_t> ConstantMembers(const CaseFacts& facts);
std::vector<NamedFacts> NameFacts(const Dataset& dataset, const std::vector<CaseFacts>& facts);

// What a person should know: cases none of whose voxels take part, and members that predict the
// same everywhere.
std::vector<std::string> CaseWarnings(const std::vector<NamedFacts>& cases);

// That a model was fitted on an ensemble of another size; empty where it was not, where that is not
// known, and where one member is taken alone.
std::string MembersWarning(const Model& model, const Dataset& dataset);

// "a, b, c and 4 more".
std::string NameSome(const std::vector<std::string>& names);

}  // namespace segcal
