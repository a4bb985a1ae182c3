// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint.h"

#include <filesystem>

#include "core/file.h"
#include "core/json.h"
#include "core/ranks.h"
#include "core/throw.h"

namespace segcal {
namespace {

constexpr int64_t kFormatVersion = 1;
constexpr int64_t kMaxCheckpointBytes = int64_t{1} << 30;

std::string FormatHex(uint64_t problem) { return fmt::format("{:016x}", problem); }

}  // namespace

Checkpoint::Checkpoint(std::string path, uint64_t problem, bool resume)
    : path_(std::move(path)), problem_(problem), parts_(std::make_unique<Json>(Json::object())) {
  if (!resume) return;
  const std::string text = TextOfFirstRank("checkpoint", [&] {
    return std::filesystem::exists(path_) ? ReadText(path_, kMaxCheckpointBytes) : std::string();
  });
  if (!text.empty()) Read(text);
}

Checkpoint::~Checkpoint() = default;

void Checkpoint::Read(const std::string& text) {
  const Json json = ParseJson(text, path_);
  JsonObject object(json, path_);
  object.CheckFormat("segcal_checkpoint", "checkpoint", kFormatVersion);
  const std::string problem = object.String("problem");
  if (problem != FormatHex(problem_)) {
    Throw(ErrorCode::kBadData,
          "{}: kept by another fit (problem {}, this one is {}): data, splits, pipeline, options, "
          "seed, memory and version must be the same to go on; remove it to start afresh",
          path_,
          problem,
          FormatHex(problem_));
  }
  *parts_ = object.Object("parts");
  object.Finish();
}

const Json* Checkpoint::Find(const std::string& part) const {
  const auto it = parts_->find(part);
  return it == parts_->end() ? nullptr : &*it;
}

void Checkpoint::Save(const std::string& part, const Json& state) {
  (*parts_)[part] = state;
  if (ThisRank() > 0) return;
  const Json json = {
      {"segcal_checkpoint", kFormatVersion}, {"problem", FormatHex(problem_)}, {"parts", *parts_}};
  WriteText(path_, DumpJson(json));
}

}  // namespace segcal
