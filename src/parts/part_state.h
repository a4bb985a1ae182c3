// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "segcal/parts.h"

namespace segcal {

// What a job is, the same for all its parts.
struct JobIdentity {
  PartJob job = PartJob::kEvaluate;
  int64_t parts = 1;
  uint64_t dataset = 0;  // hashes
  uint64_t models = 0;
  uint64_t options = 0;
  std::string version;

  bool operator==(const JobIdentity&) const = default;
};

// `cases` are all of the job.
JobIdentity IdentifyJob(PartJob job,
                        const Dataset& cases,
                        const std::vector<Model>& models,
                        const std::string& options,
                        const Part& part);

struct PartState::State {
  JobIdentity identity;
  int64_t index = 1;
  std::string target;                 // instruction set
  std::vector<std::string> case_ids;  // of the whole job, in order
  int64_t num_done = 0;               // cases
  std::vector<std::string> skipped;   // "case: why"
  Json plan;                          // the same for all parts
  Json done;                          // of this part's cases
  std::vector<std::string> sums;      // over them, packed
  std::string where = "part";
};

// A state with what all jobs have; plan, done, sums and counts are the job's own.
PartState::State StartState(const JobIdentity& identity, const Dataset& cases, const Part& part);

// The states of all parts of one job of this kind, part 1 first; anything else is an Error.
std::vector<const PartState::State*> CompleteParts(const std::vector<PartState>& parts,
                                                   PartJob job);

// That parts ran on several instruction sets, whose results differ in their last bits; empty where
// they did not.
std::string TargetWarning(const std::vector<const PartState::State*>& parts);

// The order of the job's cases for things that know the id of theirs; an unknown id, or one twice,
// is an Error.
class CaseOrder {
 public:
  explicit CaseOrder(const PartState::State& state);

  template <class Item, class GetId>
  void Sort(const GetId& id, std::vector<Item>* items) const {
    std::vector<std::string> ids;
    for (const Item& item : *items) ids.push_back(id(item));
    std::vector<Item> sorted;
    sorted.reserve(items->size());
    for (const size_t i : Permutation(ids)) sorted.push_back(std::move((*items)[i]));
    *items = std::move(sorted);
  }
  // Lines "case: why".
  void SortLines(std::vector<std::string>* lines) const;

 private:
  std::vector<size_t> Permutation(const std::vector<std::string>& ids) const;
  const size_t* FindPlace(const std::string& id) const;
  std::string IdOfLine(const std::string& line) const;

  std::vector<std::pair<std::string, size_t>> place_;  // sorted by id
  std::string where_;
};

}  // namespace segcal
