// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "segcal/parts.h"

namespace segcal::cli {

// How this process does a command together with others that mpirun or srun has started. The program
// segcal is alone; mpi/ says otherwise.
struct Ranks {
  int rank = 0;
  int size = 1;
  // From here on fits share their passes.
  std::function<void()> share_fits = [] {};
  // The bytes of all ranks, in their order, at the first; nothing elsewhere.
  std::function<std::vector<std::string>(const std::string& own)> gather;
  // Waits for all at the end of the command. A failure of one, its own exception, is thrown by all.
  std::function<void(const std::exception_ptr& failure)> end;
};
Ranks& OwnRanks();

inline bool IsFirstRank() { return OwnRanks().rank == 0; }
inline bool IsOneOfMany() { return OwnRanks().size > 1; }
// Of the cases, or of what else a command deals.
inline Part OwnPart() { return {.index = OwnRanks().rank + 1, .count = OwnRanks().size}; }

// What merge makes of the parts of all ranks, at the first; nothing elsewhere.
template <class Merge>
auto MergeRanks(const PartState& own, const Merge& merge)
    -> std::optional<decltype(merge(std::vector<PartState>()))> {
  std::vector<PartState> parts;
  for (const std::string& bytes : OwnRanks().gather(own.ToBytes()))
    parts.push_back(PartState::FromBytes(bytes));
  if (!IsFirstRank()) return std::nullopt;
  return merge(parts);
}

// Whether this process is one of several that mpirun, or srun with PMI, has started for one
// command.
bool StartedAsOneOfMany();

// Hands over to a program that stands beside this one or on the path, and returns where there is
// none.
void HandOver(const char* program, char** argv);

// Where this process is one of several: hands over to segcal-mpi, unless parts of a job are named.
void HandOverToRanks(int argc, char** argv);

}  // namespace segcal::cli
