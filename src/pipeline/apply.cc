// SPDX-License-Identifier: Apache-2.0
#include "segcal/apply.h"

#include <algorithm>
#include <filesystem>

#include "core/progress.h"
#include "core/throw.h"
#include "data/case_geometry.h"
#include "pipeline/apply_job.h"
#include "pipeline/compatible.h"

namespace segcal {
namespace {

// "labels:nifti", or "labels" for the format that all have.
PlannedOutput ParseOutput(const std::string& text, const std::string& format) {
  const size_t colon = text.find(':');
  PlannedOutput output;
  output.kind = &FindOutputKind(text.substr(0, colon));
  output.format = &FindWritableFormat(colon == std::string::npos ? format : text.substr(colon + 1));
  output.extension = Extensions(*output.format).front();
  return output;
}

void CheckDistinct(const std::vector<PlannedOutput>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (outputs[i].kind != outputs[k].kind) continue;
      Throw(ErrorCode::kInvalidArgument, "\"{}\" is to be written twice", outputs[i].kind->name);
    }
  }
}

// One kind goes straight into the folder, several into sub-folders.
std::vector<PlannedOutput> PlanOutputs(const std::string& folder, const ApplyOptions& options) {
  if (options.write.empty())
    Throw(ErrorCode::kInvalidArgument,
          "no output is named; at least one of ListOutputs() is required");
  std::vector<PlannedOutput> outputs;
  for (const std::string& text : options.write) {
    outputs.push_back(ParseOutput(text, options.format));
    PlannedOutput& output = outputs.back();
    output.folder = options.write.size() == 1
                        ? folder
                        : (std::filesystem::path(folder) / output.kind->name).string();
  }
  CheckDistinct(outputs);
  return outputs;
}

}  // namespace

Dataset CasesToApply(const Model& model, const Dataset& dataset, const ApplyOptions& options) {
  CheckCompatible(model, dataset);
  if (options.dtype != DType::kF16 && options.dtype != DType::kF32) {
    Throw(ErrorCode::kInvalidArgument,
          "cannot write {}; float16 or float32 is required",
          Name(options.dtype));
  }
  return options.split.empty() ? dataset : SelectSplit(dataset, options.split);
}

ApplyPlan PlanApply(const Dataset& cases, const std::string& folder, const ApplyOptions& options) {
  return {.outputs = PlanOutputs(folder, options),
          .dtype = options.dtype,
          .compress = options.compress,
          .force = options.force,
          .shared = false,
          .reference = [&cases](const Case& entry, const CaseReader& reader) {
            return GeometryFile(cases, entry, reader);
          }};
}

ApplyResult Apply(const Model& model,
                  const Dataset& dataset,
                  const std::string& folder,
                  const ApplyOptions& options) {
  const ProgressScope scope(options.run.progress);
  const Dataset cases = CasesToApply(model, dataset, options);
  const ApplyPlan plan = PlanApply(cases, folder, options);
  return FinishApply(SummariseApply(model, cases), ApplyToCases(model, cases, plan, options.run));
}

}  // namespace segcal
