// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"
#include "segcal/study.h"

namespace segcal {
namespace {

constexpr int64_t kRunVersion = 1;
constexpr const char* kRunKey = "segcal_run";

}  // namespace

std::string ToJson(const StudyRun& run) {
  Json shifts = Json::object();
  for (const auto& [name, path] : run.shifts) shifts[name] = path;
  return DumpJson({{kRunKey, kRunVersion},
                   {"dataset", run.dataset},
                   {"shifts", std::move(shifts)},
                   {"command", run.command}});
}

StudyRun StudyRunFromJson(const std::string& text, const std::string& where) {
  const Json json = ParseJson(text, where);
  JsonObject object(json, where);
  object.CheckFormat(kRunKey, "run", kRunVersion);
  StudyRun run;
  run.dataset = object.String("dataset");
  const Json& shifts = object.Object("shifts");
  JsonObject paths(shifts, where + ": shifts");
  for (const auto& [name, path] : shifts.items()) run.shifts.emplace_back(name, paths.String(name));
  run.command = object.String("command");
  object.Finish();
  return run;
}

}  // namespace segcal
