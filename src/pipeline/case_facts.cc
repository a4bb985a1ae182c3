// SPDX-License-Identifier: Apache-2.0
#include "pipeline/case_facts.h"

#include <fmt/format.h>

#include <map>

#include "data/input_check.h"
#include "kernels/emit.h"
#include "pipeline/model.h"

namespace segcal {
namespace {

// Spreads a place over 64 bits, so that equal parts at different places differ.
uint64_t SpreadPlace(int64_t place) noexcept {
  return static_cast<uint64_t>(place) * 0xD1B54A32D192ED03u;
}

// The finaliser of SplitMix64: every bit of x matters to every bit of the result.
uint64_t MixBits(uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace

uint64_t HashOfCase(const Tile& tile) noexcept {
  return HashTile(tile, SpreadPlace(tile.first_voxel));
}

uint64_t HashOfCases(const std::vector<CaseFacts>& cases) noexcept {
  uint64_t hash = 0;
  for (const CaseFacts& c : cases) hash = MixBits(hash + 0x9E3779B97F4A7C15u) ^ c.hash;
  return hash;
}

void AddCaseFacts(const VoxelBlock& block, CaseFacts* facts) {
  if (block.first() != 0) return;
  for (const int64_t member : FindConstantMembers(block.reader())) facts->constant[member] = 1;
}

std::string NameSome(const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  const std::vector<std::string> shown(names.begin(),
                                       names.begin() + std::min(kShown, names.size()));
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

std::vector<int64_t> ConstantMembers(const CaseFacts& facts) {
  std::vector<int64_t> members;
  for (const auto& [member, times] : facts.constant) members.push_back(member);
  return members;
}

std::vector<NamedFacts> NameFacts(const Dataset& dataset, const std::vector<CaseFacts>& facts) {
  std::vector<NamedFacts> named;
  for (size_t c = 0; c < facts.size(); ++c)
    named.push_back({dataset.cases[c].id,
                     facts[c].labelled,
                     ConstantMembers(facts[c]),
                     !dataset.cases[c].labels.empty()});
  return named;
}

std::vector<std::string> CaseWarnings(const std::vector<NamedFacts>& cases) {
  std::vector<std::string> silent;
  std::map<int64_t, std::vector<std::string>> constant;
  for (const NamedFacts& c : cases) {
    if (c.labelled == 0 && c.has_labels) silent.push_back(c.id);
    for (const int64_t member : c.constant) constant[member].push_back(c.id);
  }
  std::vector<std::string> warnings;
  if (!silent.empty()) {
    warnings.push_back(
        fmt::format("no voxel takes part of {} ({}): all are ignored or masked",
                    silent.size() == 1 ? "1 case" : fmt::format("{} cases", silent.size()),
                    NameSome(silent)));
  }
  for (const auto& [member, ids] : constant) {
    warnings.push_back(fmt::format("member {} predicts the same at every voxel of {} ({})",
                                   member,
                                   ids.size() == 1 ? "1 case" : fmt::format("{} cases", ids.size()),
                                   NameSome(ids)));
  }
  return warnings;
}

std::string MembersWarning(const Model& model, const Dataset& dataset) {
  const bool single = ModelAccess::State(model).spec.pooling.member >= 0;
  if (model.num_members() == 0 || single || dataset.cases.empty()) return {};
  const auto members = static_cast<int64_t>(dataset.cases.front().members.size());
  if (members == model.num_members()) return {};
  return fmt::format(
      "{} was fitted on an ensemble of {}, the data set \"{}\" has {}: an ensemble of another size "
      "has another confidence, so fit on one of this size",
      model.pipeline(),
      model.num_members(),
      dataset.name,
      members);
}

}  // namespace segcal
