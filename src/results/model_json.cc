// SPDX-License-Identifier: Apache-2.0
#include "calibrators/list.h"
#include "core/file.h"
#include "core/json.h"
#include "core/throw.h"
#include "pipeline/model.h"
#include "results/fit_report_json.h"
#include "results/properties_json.h"

namespace segcal {
namespace {

constexpr int64_t kModelVersion = 1;

// The declared properties must be those of the pipeline. Up to version 0.1 files declared those of
// the calibrator alone.
void CheckDeclared(const Json& json, const ModelState& state, const std::string& where) {
  const Properties declared = ReadProperties(json, where + ": properties");
  const Properties actual = state.properties();
  const bool of_calibrator =
      declared.translation_invariant == state.calibrator->properties().translation_invariant;
  if ((declared.translation_invariant == actual.translation_invariant || of_calibrator) &&
      declared.preserves == actual.preserves)
    return;
  Throw(ErrorCode::kBadData,
        "{}: the declared properties are not those of its pipeline (translation_invariant {}, "
        "preserves {})",
        where,
        actual.translation_invariant,
        Name(actual.preserves));
}

// What a file may be applied to.
void ReadForm(JsonObject* object, ModelState* state) {
  state->spec = object->Parse("pipeline", ParsePipeline);
  state->pipeline = FormatPipeline(state->spec);
  state->classes = object->Strings("classes");
  if (state->classes.empty())
    Throw(ErrorCode::kBadData, "{}: no classes, at least one is required", object->where());
  state->input = object->Parse("input", ParseInputKind);
  state->floor = object->Number("floor");
  if (state->floor != InputFloor(state->input)) {
    Throw(ErrorCode::kUnsupported,
          "{}: floor {}, this segcal computes with {}",
          object->where(),
          state->floor,
          InputFloor(state->input));
  }
}

std::unique_ptr<const Calibrator> ReadCalibrator(JsonObject* object, const ModelState& state) {
  auto calibrator = object->Parse("pipeline", [&](const std::string&) {
    return MakeCalibrator(state.spec.stages, state.spec.options);
  });
  calibrator->SetParameters(object->Object("parameters"),
                            static_cast<int64_t>(state.classes.size()),
                            object->where() + ": parameters");
  return calibrator;
}

std::shared_ptr<ModelState> ReadState(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  object.CheckFormat("segcal_model", "model", kModelVersion);
  auto state = std::make_shared<ModelState>();
  ReadForm(&object, state.get());
  state->calibrator = ReadCalibrator(&object, *state);
  CheckDeclared(object.Object("properties"), *state, where);
  if (const Json& fit = object.Any("fit"); !fit.is_null())
    state->fit = ReadFitReport(fit, where + ": fit");
  object.Finish();
  return state;
}

}  // namespace

Model Model::Load(const std::string& path) {
  const std::shared_ptr<ModelState> state = ReadState(ReadJson(path), path);
  state->file = path;
  return ModelAccess::Make(state);
}

Model Model::FromJson(const std::string& text, const std::string& where) {
  return ModelAccess::Make(ReadState(ParseJson(text, where), where));
}

std::string Model::ToJson() const {
  const bool fitted = state_->fit.data.cases > 0;
  return DumpJson({{"segcal_model", kModelVersion},
                   {"pipeline", state_->pipeline},
                   {"classes", state_->classes},
                   {"input", Name(state_->input)},
                   {"floor", state_->floor},
                   {"properties", PropertiesToJson(state_->properties())},
                   {"parameters", state_->calibrator->Parameters()},
                   {"fit", fitted ? FitReportToJson(state_->fit) : Json(nullptr)}});
}

void Model::Save(const std::string& path) const { WriteText(path, ToJson()); }

}  // namespace segcal
