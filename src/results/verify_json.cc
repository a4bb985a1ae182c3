// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"
#include "core/throw.h"
#include "results/properties_json.h"
#include "segcal/verify.h"

namespace segcal {
namespace {

constexpr int64_t kVerifyVersion = 1;
constexpr const char* kVerifyKey = "segcal_verify";

Json ExampleJson(const CounterExample& example) {
  return {{"source", example.source},
          {"voxel", example.voxel},
          {"position", example.position},
          {"what", example.what},
          {"input", JsonNumbers(example.input)},
          {"output", JsonNumbers(example.output)}};
}

CounterExample ReadExample(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  CounterExample example;
  example.source = object.String("source");
  example.voxel = object.Integer("voxel");
  example.position = object.Integers("position");
  example.what = object.String("what");
  example.input = object.AnyNumbers("input");
  example.output = object.AnyNumbers("output");
  object.Finish();
  return example;
}

Json ClaimJson(const VerifiedClaim& claim) {
  return {{"what", claim.what},
          {"property", claim.property},
          {"found", JsonNumber(claim.found)},
          {"allowed", JsonNumber(claim.allowed)},
          {"holds", claim.holds}};
}

VerifiedClaim ReadClaim(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  VerifiedClaim claim;
  claim.what = object.String("what");
  claim.property = object.String("property");
  claim.found = object.AnyNumber("found");
  claim.allowed = object.AnyNumber("allowed");
  claim.holds = object.Bool("holds");
  object.Finish();
  return claim;
}

Json CheckJson(const VerifyCheck& check) {
  return {{"name", check.name},
          {"input", check.input},
          {"output", check.output},
          {"declared", check.declared},
          {"holds", check.holds()},
          {"voxels", check.voxels},
          {"violations", check.violations},
          {"worst", JsonNumber(check.worst)},
          {"note", check.note},
          {"examples", JsonItems(check.examples, ExampleJson)}};
}

// What follows from the other fields must be what the file says.
void CheckVerdict(JsonObject* object, bool holds) {
  if (object->Bool("holds") == holds) return;
  Throw(ErrorCode::kBadData,
        "{}: \"holds\" is {}, which is not what its other fields say",
        object->where(),
        !holds);
}

VerifyCheck ReadCheck(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  VerifyCheck check;
  check.name = object.String("name");
  check.input = object.String("input");
  check.output = object.String("output");
  check.declared = object.Bool("declared");
  check.voxels = object.Integer("voxels");
  check.violations = object.Integer("violations");
  check.worst = object.AnyNumber("worst");
  check.note = object.String("note");
  check.examples = object.Items("examples", ReadExample);
  CheckVerdict(&object, check.holds());
  object.Finish();
  return check;
}

}  // namespace

std::string ToJson(const VerifyResult& result) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  return DumpJson({{kVerifyKey, kVerifyVersion},
                   {"pipeline", result.pipeline},
                   {"properties",
                    PropertiesToJson({.translation_invariant = result.translation_invariant,
                                      .preserves = result.preserves})},
                   {"holds", result.holds()},
                   {"seed", result.seed},
                   {"dataset", or_null(result.dataset)},
                   {"split", or_null(result.split)},
                   {"parameters", JsonItems(result.claims, ClaimJson)},
                   {"checks", JsonItems(result.checks, CheckJson)},
                   {"skipped", result.skipped}});
}

VerifyResult VerifyResultFromJson(const std::string& text, const std::string& where) {
  const Json json = ParseJson(text, where);
  JsonObject object(json, where);
  object.CheckFormat(kVerifyKey, "verification", kVerifyVersion);
  VerifyResult result;
  result.pipeline = object.String("pipeline");
  const Properties declared = ReadProperties(object.Object("properties"), where + ": properties");
  result.translation_invariant = declared.translation_invariant;
  result.preserves = declared.preserves;
  result.seed = object.Unsigned("seed");
  result.dataset = object.StringOr("dataset", "");
  result.split = object.StringOr("split", "");
  result.claims = object.Items("parameters", ReadClaim);
  result.checks = object.Items("checks", ReadCheck);
  result.skipped = object.Strings("skipped");
  CheckVerdict(&object, result.holds());
  object.Finish();
  return result;
}

}  // namespace segcal
