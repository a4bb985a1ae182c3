// SPDX-License-Identifier: Apache-2.0
#include "results/fit_report_json.h"

#include <charconv>

#include "core/json.h"
#include "core/options.h"
#include "core/throw.h"
#include "optim/train_json.h"

namespace segcal {
namespace {

constexpr int64_t kReportVersion = 1;
constexpr const char* kReportKey = "segcal_fit_report";

Json CertificateJson(const Certificate& c) {
  return {{"gradient", JsonNumber(c.gradient)},
          {"newton_decrement", JsonNumber(c.newton_decrement)},
          {"bounded", c.bounded},
          {"voxels", c.voxels},
          {"gap", c.gap ? JsonNumber(*c.gap) : Json(nullptr)},
          {"path", JsonNumbers(c.path)}};
}

Certificate ReadCertificate(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  Certificate c;
  c.gradient = object.AnyNumber("gradient");
  c.newton_decrement = object.AnyNumber("newton_decrement");
  c.bounded = object.Bool("bounded");
  c.voxels = object.Integer("voxels");
  if (object.Has("gap")) c.gap = object.AnyNumber("gap");
  c.path = object.AnyNumbers("path");
  object.Finish();
  return c;
}

Json TrialJson(const SearchTrial& trial) {
  Json json = {{"options", trial.options}, {"validation_nll", JsonNumber(trial.validation_nll)}};
  if (trial.epochs == 0 && !trial.pruned) return json;
  json["epochs"] = trial.epochs;
  json["pruned"] = trial.pruned;
  return json;
}

Json SearchJson(const SearchReport& search) {
  if (search.trials.empty()) return nullptr;
  return {{"trials", JsonItems(search.trials, TrialJson)},
          {"chosen", search.chosen},
          {"passes", search.passes},
          {"select", Name(search.select)}};
}

OptionMap ReadOptions(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  OptionMap options;
  for (const auto& [key, value] : json.items()) options[key] = object.String(key);
  return options;
}

SearchTrial ReadTrial(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  SearchTrial trial;
  trial.options = ReadOptions(object.Object("options"), where + ": options");
  trial.validation_nll = object.AnyNumber("validation_nll");
  trial.epochs = object.OptionalInteger("epochs").value_or(0);
  trial.pruned = object.Has("pruned") && object.Bool("pruned");
  object.Finish();
  return trial;
}

SearchReport ReadSearch(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  SearchReport search;
  search.trials = object.Items("trials", ReadTrial);
  search.chosen = ReadOptions(object.Object("chosen"), where + ": chosen");
  search.passes = object.Integer("passes");
  // Files of 0.1 do not say.
  if (object.Has("select")) search.select = object.Parse("select", ParseSelection);
  object.Finish();
  return search;
}

Json TrainingJson(const TrainingReport& training) {
  // A training may end before its first epoch does.
  if (training.epochs == 0 && training.voxels == 0) return nullptr;
  return {{"epochs", training.epochs},
          {"best_epoch", training.best_epoch},
          {"stopped_by", Name(training.stopped_by)},
          {"voxels", training.voxels},
          {"validation_voxels", training.validation_voxels},
          {"identity_nll", JsonNumber(training.identity_nll)},
          {"start_nll", JsonNumber(training.start_nll)},
          {"validation_nll", JsonNumber(training.validation_nll)},
          {"total_epochs", training.total_epochs},
          {"history", HistoryToJson(training.history)}};
}

TrainingReport ReadTraining(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  TrainingReport training;
  training.epochs = object.Integer("epochs");
  training.best_epoch = object.Integer("best_epoch");
  training.stopped_by = object.Parse("stopped_by", ParseTrainStop);
  training.voxels = object.Integer("voxels");
  training.validation_voxels = object.Integer("validation_voxels");
  training.identity_nll = object.AnyNumber("identity_nll");
  training.start_nll = object.AnyNumber("start_nll");
  training.validation_nll = object.AnyNumber("validation_nll");
  training.total_epochs = object.Integer("total_epochs");
  training.history = HistoryFromJson(object.Object("history"), where + ": history");
  object.Finish();
  return training;
}

Json FiguresJson(const std::map<std::string, double>& figures) {
  if (figures.empty()) return nullptr;
  Json json = Json::object();
  for (const auto& [name, value] : figures) json[name] = JsonNumber(value);
  return json;
}

std::map<std::string, double> ReadFigures(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  std::map<std::string, double> figures;
  for (const auto& [name, value] : json.items()) figures[name] = object.AnyNumber(name);
  return figures;
}

std::string FormatHash(uint64_t hash) { return fmt::format("{:016x}", hash); }

Json DataJson(const FittedData& data) {
  Json json = {{"name", data.name},
               {"cases", data.cases},
               {"voxels", data.voxels},
               {"labelled", data.labelled},
               {"hash", FormatHash(data.hash)}};
  // What version 0.1 did not write stays unknown.
  if (data.members != 0) json["members"] = data.members;
  if (!data.case_hashes.empty()) json["case_hashes"] = JsonItems(data.case_hashes, FormatHash);
  return json;
}

uint64_t ParseHash(const std::string& text) {
  uint64_t hash = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (text.size() != 16 || result.ptr != text.data() + text.size()) {
    Throw(ErrorCode::kBadData, "hash \"{}\", 16 hexadecimal digits are required", text);
  }
  return hash;
}

uint64_t ReadHash(const Json& json, const std::string& where) {
  if (!json.is_string()) Throw(ErrorCode::kBadData, "{}: a string is required", where);
  try {
    return ParseHash(json.get<std::string>());
  } catch (const Error& error) {
    Throw(error.code(), "{}: {}", where, error.what());
  }
}

FittedData ReadData(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  FittedData data;
  data.name = object.String("name");
  data.cases = object.Integer("cases");
  data.voxels = object.Integer("voxels");
  data.labelled = object.Integer("labelled");
  data.hash = object.Parse("hash", ParseHash);
  // Version 0.1 did not write these.
  data.members = object.OptionalInteger("members").value_or(0);
  if (object.Has("case_hashes")) data.case_hashes = object.Items("case_hashes", ReadHash);
  object.Finish();
  return data;
}

FitReport ReadFields(JsonObject* object) {
  const std::string& where = object->where();
  FitReport report;
  report.data = ReadData(object->Object("data"), where + ": data");
  if (object->Has("identity")) report.identity = object->Parse("identity", ParseHash);
  report.nll_before = object->AnyNumber("nll_before");
  report.nll_after = object->AnyNumber("nll_after");
  report.solver = object->String("solver");
  report.status = object->Parse("status", ParseFitStatus);
  report.passes = object->Integer("passes");
  report.certificates = object->Items("certificates", ReadCertificate);
  if (object->Has("search")) report.search = ReadSearch(object->Any("search"), where + ": search");
  if (object->Has("training"))
    report.training = ReadTraining(object->Any("training"), where + ": training");
  if (object->Has("figures"))
    report.figures = ReadFigures(object->Any("figures"), where + ": figures");
  report.warnings = object->Strings("warnings");
  object->Finish();
  return report;
}

Json OutcomeJson(const FitReport& report) {
  return {{"nll_before", JsonNumber(report.nll_before)},
          {"nll_after", JsonNumber(report.nll_after)},
          {"solver", report.solver},
          {"status", Name(report.status)},
          {"passes", report.passes},
          {"certificates", JsonItems(report.certificates, CertificateJson)},
          {"search", SearchJson(report.search)},
          {"training", TrainingJson(report.training)},
          {"figures", FiguresJson(report.figures)},
          {"warnings", report.warnings}};
}

}  // namespace

Json FitReportToJson(const FitReport& report) {
  Json json = {{"data", DataJson(report.data)}};
  if (report.identity != 0) json["identity"] = FormatHash(report.identity);
  json.update(OutcomeJson(report));
  return json;
}

FitReport ReadFitReport(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  return ReadFields(&object);
}

std::string ToJson(const FitReport& report) {
  Json json = {{kReportKey, kReportVersion}};
  json.update(FitReportToJson(report));
  return DumpJson(json);
}

FitReport FitReportFromJson(const std::string& text, const std::string& where) {
  const Json json = ParseJson(text, where);
  JsonObject object(json, where);
  object.CheckFormat(kReportKey, "fit report", kReportVersion);
  return ReadFields(&object);
}

}  // namespace segcal
