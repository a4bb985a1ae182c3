// SPDX-License-Identifier: Apache-2.0
#include <new>
#include <string_view>

#include "capi/c_arrays.h"
#include "core/json.h"
#include "core/throw.h"
#include "pipeline/model.h"
#include "segcal/apply.h"
#include "segcal/c.h"
#include "segcal/version.h"

// What C sees of a model, and texts about it that live as long.
// NOLINTNEXTLINE(readability-identifier-naming)
struct segcal_model {
  explicit segcal_model(segcal::Model loaded)
      : model(std::move(loaded)),
        report(model.report().data.cases > 0 ? ToJson(model.report()) : "null") {}
  segcal::Model model;
  std::string report;
};

namespace segcal {
namespace {

std::string& LastError() {
  static thread_local std::string message;
  return message;
}

segcal_status StatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return SEGCAL_INVALID_ARGUMENT;
    case ErrorCode::kBadData:
      return SEGCAL_BAD_DATA;
    case ErrorCode::kIo:
      return SEGCAL_IO;
    case ErrorCode::kUnsupported:
      return SEGCAL_UNSUPPORTED;
    case ErrorCode::kCancelled:
      break;  // nothing here takes a callback
  }
  return SEGCAL_INTERNAL;
}

// Keeping the message may fail, too.
segcal_status Failed(segcal_status status, const char* message) noexcept {
  try {
    LastError() = message;
  } catch (...) {
    LastError().clear();
  }
  return status;
}

// Runs what may throw; a status comes out of it instead.
template <class Call>
segcal_status Guarded(const Call& call) noexcept {
  try {
    call();
    return SEGCAL_OK;
  } catch (const Error& error) {
    return Failed(StatusOf(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return Failed(SEGCAL_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return Failed(SEGCAL_INTERNAL, error.what());
  } catch (...) {
    return Failed(SEGCAL_INTERNAL, "an exception of an unknown kind");
  }
}

void CheckGiven(const void* pointer, const char* what) {
  if (pointer == nullptr) Throw(ErrorCode::kInvalidArgument, "{} is NULL", what);
}

RunOptions ReadRunOptions(const char* text) {
  RunOptions run;
  if (text == nullptr) return run;
  const Json json = ParseJson(text, "options");
  JsonObject object(json, "options");
  const int64_t threads = object.OptionalInteger("threads").value_or(0);
  object.Finish();
  if (threads < 0 || threads > 1024)
    Throw(ErrorCode::kInvalidArgument, "options: threads is {}, 0 to 1024 is required", threads);
  run.threads = static_cast<int>(threads);
  return run;
}

}  // namespace
}  // namespace segcal

using segcal::Guarded;

// Names as C has them.
// NOLINTBEGIN(readability-identifier-naming,modernize-*)

extern "C" {

const char* segcal_version(void) { return segcal::kVersion; }
const char* segcal_last_error(void) { return segcal::LastError().c_str(); }

segcal_status segcal_load(const char* path, segcal_model** model) {
  return Guarded([&] {
    segcal::CheckGiven(path, "path");
    segcal::CheckGiven(model, "model");
    *model = new segcal_model(segcal::Model::Load(path));
  });
}

segcal_status segcal_load_text(const char* text, size_t size, segcal_model** model) {
  return Guarded([&] {
    segcal::CheckGiven(text, "text");
    segcal::CheckGiven(model, "model");
    *model = new segcal_model(segcal::Model::FromJson({text, size}));
  });
}

void segcal_free(segcal_model* model) { delete model; }

const char* segcal_pipeline(const segcal_model* model) {
  return model == nullptr ? nullptr : model->model.pipeline().c_str();
}
const char* segcal_input_kind(const segcal_model* model) {
  return model == nullptr ? nullptr : Name(model->model.input());
}
int64_t segcal_num_classes(const segcal_model* model) {
  return model == nullptr ? 0 : static_cast<int64_t>(model->model.classes().size());
}
const char* segcal_class_name(const segcal_model* model, int64_t index) {
  if (index < 0 || index >= segcal_num_classes(model)) return nullptr;
  return model->model.classes()[static_cast<size_t>(index)].c_str();
}
int64_t segcal_min_members(const segcal_model* model) {
  if (model == nullptr) return -1;
  const int64_t member = segcal::ModelAccess::State(model->model).spec.pooling.member;
  return member < 0 ? 1 : member + 1;
}
int segcal_needs_image(const segcal_model* model) {
  if (model == nullptr) return -1;
  return segcal::ModelAccess::State(model->model).calibrator->needs().image ? 1 : 0;
}
int segcal_translation_invariant(const segcal_model* model) {
  if (model == nullptr) return -1;
  return model->model.translation_invariant() ? 1 : 0;
}
const char* segcal_preserves(const segcal_model* model) {
  return model == nullptr ? nullptr : Name(model->model.preserves());
}
const char* segcal_report(const segcal_model* model) {
  return model == nullptr ? nullptr : model->report.c_str();
}

segcal_status segcal_apply(const segcal_model* model,
                           const segcal_input* inputs,
                           size_t num_inputs,
                           const segcal_output* outputs,
                           size_t num_outputs,
                           const char* options) {
  return Guarded([&] {
    segcal::CheckGiven(model, "model");
    segcal::CheckGiven(inputs, "inputs");
    segcal::CheckGiven(outputs, "outputs");
    segcal::Apply(model->model,
                  segcal::MakeCase({inputs, num_inputs}),
                  segcal::MakeOutputs({outputs, num_outputs}),
                  segcal::ReadRunOptions(options));
  });
}

}  // extern "C"

// NOLINTEND(readability-identifier-naming,modernize-*)
