// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"
#include "segcal/verify.h"

namespace segcal {
namespace {

Json ExamplesJson(const std::vector<CounterExample>& examples) {
  Json json = Json::array();
  for (const CounterExample& example : examples) {
    json.push_back({{"source", example.source},
                    {"voxel", example.voxel},
                    {"position", example.position},
                    {"what", example.what},
                    {"input", JsonNumbers(example.input)},
                    {"output", JsonNumbers(example.output)}});
  }
  return json;
}

Json ClaimsJson(const std::vector<VerifiedClaim>& claims) {
  Json json = Json::array();
  for (const VerifiedClaim& claim : claims) {
    json.push_back({{"what", claim.what},
                    {"property", claim.property},
                    {"found", JsonNumber(claim.found)},
                    {"allowed", JsonNumber(claim.allowed)},
                    {"holds", claim.holds}});
  }
  return json;
}

Json ChecksJson(const std::vector<VerifyCheck>& checks) {
  Json json = Json::array();
  for (const VerifyCheck& check : checks) {
    json.push_back({{"name", check.name},
                    {"input", check.input},
                    {"output", check.output},
                    {"declared", check.declared},
                    {"holds", check.holds()},
                    {"voxels", check.voxels},
                    {"violations", check.violations},
                    {"worst", JsonNumber(check.worst)},
                    {"note", check.note},
                    {"examples", ExamplesJson(check.examples)}});
  }
  return json;
}

}  // namespace

std::string ToJson(const VerifyResult& result) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  return DumpJson({{"segcal_verify", 1},
                   {"pipeline", result.pipeline},
                   {"properties",
                    {{"translation_invariant", result.translation_invariant},
                     {"preserves", Name(result.preserves)}}},
                   {"holds", result.holds()},
                   {"seed", result.seed},
                   {"dataset", or_null(result.dataset)},
                   {"split", or_null(result.split)},
                   {"parameters", ClaimsJson(result.claims)},
                   {"checks", ChecksJson(result.checks)},
                   {"skipped", result.skipped}});
}

}  // namespace segcal
