// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model.h"

#include <charconv>
#include <cmath>

#include "calibrators/list.h"
#include "core/file.h"
#include "core/json.h"
#include "core/throw.h"
#include "optim/train_json.h"

namespace segcal {
namespace {

constexpr int64_t kFormatVersion = 1;

// What `read` returns; its Error, which is about a text in the file, gets the file's name.
template <class Read>
auto NamingFile(const std::string& path, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    Throw(ErrorCode::kBadData, "{}: {}", path, error.what());
  }
}

void CheckDeclared(JsonObject* object, const Properties& actual) {
  JsonObject declared(object->Object("properties"), object->where() + ": properties");
  const bool translation_invariant = declared.Bool("translation_invariant");
  const std::string preserves = declared.String("preserves");
  declared.Finish();
  if (translation_invariant != actual.translation_invariant ||
      preserves != Name(actual.preserves)) {
    Throw(ErrorCode::kBadData,
          "{}: the declared properties are not those of its calibrator (translation_invariant {}, "
          "preserves {})",
          object->where(),
          actual.translation_invariant,
          Name(actual.preserves));
  }
}

Json CertificatesJson(const std::vector<Certificate>& certificates) {
  Json json = Json::array();
  for (const Certificate& c : certificates) {
    json.push_back({{"gradient", c.gradient},
                    {"newton_decrement", c.newton_decrement},
                    {"bounded", c.bounded},
                    {"voxels", c.voxels},
                    {"gap", c.gap ? Json(*c.gap) : Json(nullptr)},
                    {"path", c.path}});
  }
  return json;
}

Json SearchJson(const SearchReport& search) {
  if (search.trials.empty()) return nullptr;
  Json trials = Json::array();
  for (const SearchTrial& trial : search.trials) {
    Json entry = {{"options", trial.options}, {"validation_nll", trial.validation_nll}};
    if (trial.epochs > 0) {
      entry["epochs"] = trial.epochs;
      entry["pruned"] = trial.pruned;
    }
    trials.push_back(std::move(entry));
  }
  return {{"trials", trials}, {"chosen", search.chosen}, {"passes", search.passes}};
}

Json TrainingJson(const TrainingReport& training) {
  if (training.epochs == 0) return nullptr;
  return {{"epochs", training.epochs},
          {"best_epoch", training.best_epoch},
          {"stopped_by", training.stopped_by},
          {"voxels", training.voxels},
          {"validation_voxels", training.validation_voxels},
          {"identity_nll", training.identity_nll},
          {"start_nll", training.start_nll},
          {"validation_nll", training.validation_nll},
          {"total_epochs", training.total_epochs},
          {"history", HistoryToJson(training.history)}};
}

Json FiguresJson(const std::map<std::string, double>& figures) {
  if (figures.empty()) return nullptr;
  Json json = Json::object();
  for (const auto& [name, value] : figures) json[name] = JsonNumber(value);
  return json;
}

Json FitJson(const FitReport& fit) {
  if (fit.cases == 0) return nullptr;
  return {{"data",
           {{"name", fit.data_name},
            {"cases", fit.cases},
            {"voxels", fit.voxels},
            {"labelled", fit.labelled},
            {"hash", fmt::format("{:016x}", fit.hash)}}},
          {"nll_before", fit.nll_before},
          {"nll_after", fit.outcome.nll_after},
          {"solver", fit.outcome.solver},
          {"status", fit.outcome.status},
          {"passes", fit.outcome.passes},
          {"certificates", CertificatesJson(fit.outcome.certificates)},
          {"search", SearchJson(fit.outcome.search)},
          {"training", TrainingJson(fit.outcome.training)},
          {"figures", FiguresJson(fit.outcome.figures)},
          {"warnings", fit.outcome.warnings}};
}

uint64_t ReadHash(JsonObject* object) {
  const std::string text = object->String("hash");
  uint64_t hash = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (text.size() != 16 || result.ptr != text.data() + text.size()) {
    Throw(ErrorCode::kBadData,
          "{}: hash \"{}\", 16 hexadecimal digits are required",
          object->where(),
          text);
  }
  return hash;
}

std::vector<Certificate> ReadCertificates(const Json& json, const std::string& where) {
  std::vector<Certificate> certificates;
  for (const Json& item : json) {
    JsonObject object(item, where);
    certificates.push_back({.gradient = object.Number("gradient"),
                            .newton_decrement = object.Number("newton_decrement"),
                            .bounded = object.Bool("bounded"),
                            .voxels = object.Integer("voxels"),
                            .gap = object.OptionalNumber("gap"),
                            .path = object.Numbers("path")});
    object.Finish();
  }
  return certificates;
}

OptionMap ReadOptions(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  OptionMap options;
  for (const auto& [key, value] : json.items()) options[key] = object.String(key);
  return options;
}

SearchReport ReadSearch(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  SearchReport search;
  for (const Json& item : object.Array("trials")) {
    JsonObject trial(item, where + ": trials");
    search.trials.push_back({.options = ReadOptions(trial.Object("options"), where + ": options"),
                             .validation_nll = trial.Number("validation_nll"),
                             .epochs = trial.OptionalInteger("epochs").value_or(0),
                             .pruned = trial.Has("pruned") && trial.Bool("pruned")});
    trial.Finish();
  }
  search.chosen = ReadOptions(object.Object("chosen"), where + ": chosen");
  search.passes = object.Integer("passes");
  object.Finish();
  return search;
}

TrainingReport ReadTraining(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  TrainingReport training;
  training.epochs = object.Integer("epochs");
  training.best_epoch = object.Integer("best_epoch");
  training.stopped_by = object.String("stopped_by");
  training.voxels = object.Integer("voxels");
  training.validation_voxels = object.Integer("validation_voxels");
  training.identity_nll = object.Number("identity_nll");
  training.start_nll = object.Number("start_nll");
  training.validation_nll = object.Number("validation_nll");
  training.total_epochs = object.Integer("total_epochs");
  training.history = HistoryFromJson(object.Object("history"), where + ": history");
  object.Finish();
  return training;
}

FitReport ReadFit(const Json& json, const std::string& where) {
  if (json.is_null()) return {};
  JsonObject object(json, where);
  FitReport fit;
  JsonObject data(object.Object("data"), where + ": data");
  fit.data_name = data.String("name");
  fit.cases = data.Integer("cases");
  fit.voxels = data.Integer("voxels");
  fit.labelled = data.Integer("labelled");
  fit.hash = ReadHash(&data);
  data.Finish();
  fit.nll_before = object.Number("nll_before");
  fit.outcome.nll_after = object.Number("nll_after");
  fit.outcome.solver = object.String("solver");
  fit.outcome.status = object.String("status");
  fit.outcome.passes = object.Integer("passes");
  fit.outcome.certificates =
      ReadCertificates(object.Array("certificates"), where + ": certificates");
  if (object.Has("search")) {
    fit.outcome.search = ReadSearch(object.Object("search"), where + ": search");
  }
  if (object.Has("training")) {
    fit.outcome.training = ReadTraining(object.Object("training"), where + ": training");
  }
  if (object.Has("figures")) {
    const std::string inside = where + ": figures";
    JsonObject figures(object.Object("figures"), inside);
    for (const auto& [key, value] : object.Object("figures").items())
      fit.outcome.figures[key] = figures.OptionalNumber(key).value_or(std::nan(""));
  }
  fit.outcome.warnings = object.Strings("warnings");
  object.Finish();
  return fit;
}

std::shared_ptr<const ModelState> ReadState(const Json& json, const std::string& path) {
  JsonObject object(json, path);
  object.CheckFormat("segcal_model", "model", kFormatVersion);
  auto state = std::make_shared<ModelState>();
  const std::string pipeline = object.String("pipeline");
  state->spec = NamingFile(path, [&] { return ParsePipeline(pipeline); });
  state->pipeline = FormatPipeline(state->spec);
  state->classes = object.Strings("classes");
  if (state->classes.empty())
    Throw(ErrorCode::kBadData, "{}: no classes, at least one is required", path);
  const std::string input = object.String("input");
  state->input = NamingFile(path, [&] { return ParseInputKind(input); });
  state->floor = object.Number("floor");
  const double floor = InputFloor(state->input);
  if (state->floor != floor) {
    Throw(ErrorCode::kUnsupported,
          "{}: floor {}, this segcal computes with {}",
          path,
          state->floor,
          floor);
  }
  state->calibrator =
      NamingFile(path, [&] { return MakeCalibrator(state->spec.stages, state->spec.options); });
  CheckDeclared(&object, state->calibrator->properties());
  state->calibrator->SetParameters(object.Object("parameters"),
                                   static_cast<int64_t>(state->classes.size()),
                                   path + ": parameters");
  state->fit = ReadFit(object.Any("fit"), path + ": fit");
  object.Finish();
  return state;
}

}  // namespace

Model Model::Load(const std::string& path) { return Model(ReadState(ReadJson(path), path)); }

std::string Model::ToJson() const {
  const Properties properties = state_->calibrator->properties();
  const Json json = {{"segcal_model", kFormatVersion},
                     {"pipeline", state_->pipeline},
                     {"classes", state_->classes},
                     {"input", Name(state_->input)},
                     {"floor", state_->floor},
                     {"properties",
                      {{"translation_invariant", properties.translation_invariant},
                       {"preserves", Name(properties.preserves)}}},
                     {"parameters", state_->calibrator->Parameters()},
                     {"fit", FitJson(state_->fit)}};
  return DumpJson(json);
}

void Model::Save(const std::string& path) const { WriteText(path, ToJson()); }

const std::string& Model::pipeline() const { return state_->pipeline; }
const std::vector<std::string>& Model::classes() const { return state_->classes; }
InputKind Model::input() const { return state_->input; }
bool Model::translation_invariant() const {
  return state_->calibrator->properties().translation_invariant;
}
const char* Model::preserves() const { return Name(state_->calibrator->properties().preserves); }

Model UnfittedModel(const PipelineSpec& spec,
                    const std::vector<std::string>& classes,
                    InputKind input) {
  auto state = std::make_shared<ModelState>();
  state->spec = spec;
  state->pipeline = FormatPipeline(spec);
  state->classes = classes;
  state->input = input;
  state->floor = InputFloor(input);
  state->calibrator = MakeCalibrator(spec.stages, spec.options);
  return Model(std::move(state));
}

}  // namespace segcal
