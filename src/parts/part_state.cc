// SPDX-License-Identifier: Apache-2.0
#include "parts/part_state.h"

#include <algorithm>
#include <set>

#include "core/file.h"
#include "core/text_hash.h"
#include "core/throw.h"
#include "parts/deal.h"
#include "parts/state_file.h"
#include "segcal/files.h"
#include "segcal/methods.h"
#include "segcal/version.h"

namespace segcal {
namespace {

constexpr PartJob kJobs[] = {PartJob::kEvaluate, PartJob::kApply, PartJob::kInspect};
constexpr int64_t kMaxStateBytes = int64_t{16} << 30;
constexpr size_t kNamedParts = 20;  // of those that are missing

std::string Hex(uint64_t hash) { return fmt::format("{:016x}", hash); }

uint64_t ReadHex(JsonObject* object, const std::string& key) {
  const std::string text = object->String(key);
  if (text.size() != 16 || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    Throw(ErrorCode::kBadData,
          "{}: {} is \"{}\", 16 hexadecimal digits are required",
          object->where(),
          key,
          text);
  }
  return std::stoull(text, nullptr, 16);
}

PartJob ParseJob(const std::string& name) {
  for (const PartJob job : kJobs) {
    if (name == Name(job)) return job;
  }
  Throw(ErrorCode::kBadData, "unknown job \"{}\"; evaluate, apply or inspect is required", name);
}

Json StateToJson(const PartState::State& state) {
  return {{"job", Name(state.identity.job)},
          {"part", state.index},
          {"parts", state.identity.parts},
          {"version", state.identity.version},
          {"target", state.target},
          {"dataset", Hex(state.identity.dataset)},
          {"models", Hex(state.identity.models)},
          {"options", Hex(state.identity.options)},
          {"cases", state.case_ids},
          {"num_done", state.num_done},
          {"skipped", state.skipped},
          {"plan", state.plan},
          {"done", state.done}};
}

PartState::State ReadState(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  PartState::State state;
  state.where = where;
  state.identity.job = object.Parse("job", ParseJob);
  state.index = object.Integer("part");
  state.identity.parts = object.Integer("parts");
  state.identity.version = object.String("version");
  state.target = object.String("target");
  state.identity.dataset = ReadHex(&object, "dataset");
  state.identity.models = ReadHex(&object, "models");
  state.identity.options = ReadHex(&object, "options");
  state.case_ids = object.Strings("cases");
  state.num_done = object.Integer("num_done");
  state.skipped = object.Strings("skipped");
  state.plan = object.Object("plan");
  state.done = object.Object("done");
  object.Finish();
  if (state.index < 1 || state.index > state.identity.parts) {
    Throw(ErrorCode::kBadData,
          "{}: part {} of {}; one of them is required",
          where,
          state.index,
          state.identity.parts);
  }
  return state;
}

// In what a part differs from another job.
std::string Difference(const JobIdentity& part, const JobIdentity& job) {
  if (part.job != job.job)
    return fmt::format("it is a part of {}, not of {}", Name(part.job), Name(job.job));
  if (part.version != job.version)
    return fmt::format("it was written by version {}, not {}", part.version, job.version);
  if (part.parts != job.parts)
    return fmt::format("it is one of {} parts, not of {}", part.parts, job.parts);
  if (part.dataset != job.dataset) return "it is of another data set, or of other cases of it";
  if (part.models != job.models) return "it is of other models or pipelines";
  return "it was made with other options";
}

void CheckSameJob(const std::vector<PartState>& parts) {
  const PartState::State& first = parts.front().state();
  for (const PartState& part : parts) {
    const PartState::State& state = part.state();
    const bool same = state.identity == first.identity && state.case_ids == first.case_ids &&
                      state.plan == first.plan;
    if (same) continue;
    Throw(ErrorCode::kInvalidArgument,
          "{}: does not belong to {}: {}",
          state.where,
          first.where,
          Difference(state.identity, first.identity));
  }
}

// Of parts in order, each once.
void CheckNoneIsMissing(const std::vector<const PartState::State*>& parts, int64_t count) {
  const int64_t num_missing = count - std::ssize(parts);
  if (num_missing == 0) return;
  std::vector<int64_t> missing;
  size_t next = 0;
  for (int64_t p = 1; p <= count && missing.size() < kNamedParts; ++p) {
    if (next < parts.size() && parts[next]->index == p) {
      ++next;
    } else {
      missing.push_back(p);
    }
  }
  const int64_t more = num_missing - std::ssize(missing);
  Throw(ErrorCode::kInvalidArgument,
        "{} of {} parts {} missing: {}{}",
        num_missing,
        count,
        num_missing == 1 ? "is" : "are",
        fmt::join(missing, ", "),
        more == 0 ? "" : fmt::format(" and {} more", more));
}

void CheckNoneIsDoubled(const std::vector<const PartState::State*>& parts) {
  for (size_t p = 0; p + 1 < parts.size(); ++p) {
    if (parts[p]->index != parts[p + 1]->index) continue;
    Throw(ErrorCode::kInvalidArgument,
          "{}: is part {} of {}, as {} is; each is required once",
          parts[p + 1]->where,
          parts[p]->index,
          parts[p]->identity.parts,
          parts[p]->where);
  }
}

}  // namespace

const char* Name(PartJob job) noexcept {
  switch (job) {
    case PartJob::kEvaluate:
      return "evaluate";
    case PartJob::kApply:
      return "apply";
    case PartJob::kInspect:
      return "inspect";
  }
  return "";
}

PartState::PartState(std::shared_ptr<const State> state) : state_(std::move(state)) {}

PartState PartState::Load(const std::string& path) {
  return FromBytes(ReadText(path, kMaxStateBytes), path);
}

PartState PartState::FromBytes(const std::string& bytes, const std::string& where) {
  StateFile file = ReadStateFile(bytes, where);
  State state = ReadState(file.text, where);
  state.sums = std::move(file.bytes);
  return PartState(std::make_shared<const State>(std::move(state)));
}

void PartState::Save(const std::string& path) const { WriteText(path, ToBytes()); }

std::string PartState::ToBytes() const {
  return WriteStateFile({.text = StateToJson(*state_), .bytes = state_->sums});
}

PartJob PartState::job() const noexcept { return state_->identity.job; }
Part PartState::part() const noexcept { return {state_->index, state_->identity.parts}; }
int64_t PartState::cases() const noexcept { return state_->num_done; }
int64_t PartState::all_cases() const noexcept { return std::ssize(state_->case_ids); }
std::vector<std::string> PartState::skipped() const { return state_->skipped; }

std::vector<std::string> PartState::families() const {
  if (job() != PartJob::kEvaluate) return {};
  return JsonObject(state_->plan, state_->where).Strings("families");
}

JobIdentity IdentifyJob(PartJob job,
                        const Dataset& cases,
                        const std::vector<Model>& models,
                        const std::string& options,
                        const Part& part) {
  std::string all_models;
  for (const Model& model : models) all_models += model.ToJson();
  return {.job = job,
          .parts = part.count,
          .dataset = HashDataset(cases),
          .models = HashText(all_models),
          .options = HashText(options),
          .version = kVersion};
}

PartState::State StartState(const JobIdentity& identity, const Dataset& cases, const Part& part) {
  PartState::State state;
  state.identity = identity;
  state.index = part.index;
  state.target = ActiveTarget();
  for (const Case& c : cases.cases) state.case_ids.push_back(c.id);
  return state;
}

std::vector<const PartState::State*> CompleteParts(const std::vector<PartState>& parts,
                                                   PartJob job) {
  if (parts.empty())
    Throw(ErrorCode::kInvalidArgument, "no part is named, all of a job are required");
  if (parts.front().job() != job) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: a part of {}, one of {} is required",
          parts.front().state().where,
          Name(parts.front().job()),
          Name(job));
  }
  CheckSameJob(parts);
  std::vector<const PartState::State*> sorted;
  for (const PartState& part : parts) sorted.push_back(&part.state());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return a->index < b->index;
  });
  CheckNoneIsDoubled(sorted);
  CheckNoneIsMissing(sorted, parts.front().part().count);
  return sorted;
}

std::string TargetWarning(const std::vector<const PartState::State*>& parts) {
  std::set<std::string> targets;
  for (const PartState::State* part : parts) targets.insert(part->target);
  if (targets.size() < 2) return {};
  return fmt::format(
      "parts ran on the instruction sets {}: last digits may differ from those of one machine; "
      "SEGCAL_TARGET chooses one for all",
      fmt::join(targets, ", "));
}

CaseOrder::CaseOrder(const PartState::State& state) : where_(state.where) {
  for (size_t c = 0; c < state.case_ids.size(); ++c) place_.emplace_back(state.case_ids[c], c);
  std::sort(place_.begin(), place_.end());
}

std::vector<size_t> CaseOrder::Permutation(const std::vector<std::string>& ids) const {
  std::vector<std::pair<size_t, size_t>> order;  // place, item
  for (size_t i = 0; i < ids.size(); ++i) {
    const size_t* place = FindPlace(ids[i]);
    if (place == nullptr)
      Throw(ErrorCode::kBadData, "{}: case {} is none of the job", where_, ids[i]);
    order.emplace_back(*place, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<size_t> items;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && order[i].first == order[i - 1].first)
      Throw(ErrorCode::kBadData, "{}: case {} is in two parts", where_, ids[order[i].second]);
    items.push_back(order[i].second);
  }
  return items;
}

void CaseOrder::SortLines(std::vector<std::string>* lines) const {
  Sort([this](const std::string& line) { return IdOfLine(line); }, lines);
}

const size_t* CaseOrder::FindPlace(const std::string& id) const {
  const auto found = std::lower_bound(place_.begin(), place_.end(), std::pair(id, size_t{0}));
  return found == place_.end() || found->first != id ? nullptr : &found->second;
}

// An id may hold what stands between id and reason.
std::string CaseOrder::IdOfLine(const std::string& line) const {
  for (size_t end = line.find(": "); end != std::string::npos; end = line.find(": ", end + 1)) {
    if (FindPlace(line.substr(0, end)) != nullptr) return line.substr(0, end);
  }
  return line.substr(0, line.find(": "));
}

}  // namespace segcal
