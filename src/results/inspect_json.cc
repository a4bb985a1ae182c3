// SPDX-License-Identifier: Apache-2.0
#include "results/inspect_json.h"

#include <algorithm>

#include "core/json.h"
#include "core/throw.h"

namespace segcal {
namespace {

constexpr int64_t kInspectVersion = 1;
constexpr const char* kInspectKey = "segcal_inspect";

Json SpreadJson(const FreeEnergySpread& spread) {
  return {{"members", spread.members},
          {"cases", spread.cases},
          {"mean", JsonNumber(spread.mean)},
          {"quartiles", JsonNumbers(spread.quartiles)}};
}

FreeEnergySpread ReadSpread(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  FreeEnergySpread spread;
  spread.members = object.Integer("members");
  spread.cases = object.Integer("cases");
  spread.mean = object.AnyNumber("mean");
  const std::vector<double> quartiles = object.AnyNumbers("quartiles");
  if (quartiles.size() != std::size(spread.quartiles))
    Throw(ErrorCode::kBadData, "{}: {} quartiles, 3 are required", where, quartiles.size());
  std::copy(quartiles.begin(), quartiles.end(), spread.quartiles);
  object.Finish();
  return spread;
}

Json MethodJson(const MethodSummary& method) {
  return {{"name", method.name},
          {"translation_invariant", method.translation_invariant},
          {"preserves", Name(method.preserves)},
          {"optimised", method.optimised},
          {"identifiable", method.identifiable}};
}

MethodSummary ReadMethod(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  MethodSummary method;
  method.name = object.String("name");
  method.translation_invariant = object.Bool("translation_invariant");
  method.preserves = object.Parse("preserves", ParsePreserves);
  method.optimised = object.Integer("optimised");
  method.identifiable = object.Integer("identifiable");
  object.Finish();
  return method;
}

}  // namespace

Json CaseSummaryToJson(const CaseSummary& c) {
  return {{"id", c.id},
          {"split", c.split},
          {"shape", c.shape},
          {"dtype", c.dtype},
          {"labelled", c.labelled},
          {"accuracy", JsonNumber(c.accuracy)},
          {"free_energy_mean", JsonNumber(c.free_energy_mean)},
          {"free_energy_std", JsonNumber(c.free_energy_std)},
          {"free_energy_std_by_size", JsonNumbers(c.free_energy_std_by_size)}};
}

CaseSummary ReadCaseSummary(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  CaseSummary c;
  c.id = object.String("id");
  c.split = object.String("split");
  c.shape = object.Integers("shape");
  c.dtype = object.String("dtype");
  c.labelled = object.Integer("labelled");
  c.accuracy = object.AnyNumber("accuracy");
  c.free_energy_mean = object.AnyNumber("free_energy_mean");
  c.free_energy_std = object.AnyNumber("free_energy_std");
  c.free_energy_std_by_size = object.AnyNumbers("free_energy_std_by_size");
  object.Finish();
  return c;
}

Json DatasetSummaryToJson(const DatasetSummary& summary) {
  return {{kInspectKey, kInspectVersion},
          {"name", summary.name},
          {"classes", summary.classes},
          {"input", Name(summary.input)},
          {"voxels", summary.voxels},
          {"labelled", summary.labelled},
          {"label_counts", summary.label_counts},
          {"decision_counts", summary.decision_counts},
          {"repeated", summary.repeated},
          {"repeated_example", JsonNumbers(summary.repeated_example)},
          {"renormalised", summary.renormalised},
          {"free_energy", JsonItems(summary.free_energy, SpreadJson)},
          {"methods", JsonItems(summary.methods, MethodJson)},
          {"skipped", summary.skipped},
          {"warnings", summary.warnings},
          {"cases", JsonItems(summary.cases, CaseSummaryToJson)}};
}

std::string ToJson(const DatasetSummary& summary) {
  return DumpJson(DatasetSummaryToJson(summary));
}

DatasetSummary ReadDatasetSummary(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  object.CheckFormat(kInspectKey, "inspection", kInspectVersion);
  DatasetSummary summary;
  summary.name = object.String("name");
  summary.classes = object.Strings("classes");
  summary.input = object.Parse("input", ParseInputKind);
  summary.voxels = object.Integer("voxels");
  summary.labelled = object.Integer("labelled");
  summary.label_counts = object.Integers("label_counts");
  summary.decision_counts = object.Integers("decision_counts");
  summary.repeated = object.Integer("repeated");
  summary.repeated_example = object.AnyNumbers("repeated_example");
  summary.renormalised = object.Integer("renormalised");
  summary.free_energy = object.Items("free_energy", ReadSpread);
  summary.methods = object.Items("methods", ReadMethod);
  summary.skipped = object.Strings("skipped");
  summary.warnings = object.Strings("warnings");
  summary.cases = object.Items("cases", ReadCaseSummary);
  object.Finish();
  return summary;
}

DatasetSummary DatasetSummaryFromJson(const std::string& text, const std::string& where) {
  return ReadDatasetSummary(ParseJson(text, where), where);
}

}  // namespace segcal
