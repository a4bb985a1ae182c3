// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "core/file.h"
#include "core/progress.h"
#include "core/throw.h"
#include "data/nnunet.h"
#include "pipeline/apply_job.h"
#include "pipeline/compatible.h"

namespace segcal {
namespace {

namespace fs = std::filesystem;

std::string Beside(const std::string& npz, const std::string& ending) {
  return fs::path(npz).replace_extension(ending).string();
}

// nnU-Net takes every prediction of a folder: what else is in it would be mixed with ours.
void CheckOutputFolder(const std::string& folder, bool overwrite) {
  if (folder.empty())
    Throw(ErrorCode::kInvalidArgument, "the folder to write to has an empty name");
  std::error_code error;  // making the folder says what is wrong
  if (!fs::exists(folder, error)) return;
  if (!IsFolder(folder)) Throw(ErrorCode::kIo, "{}: exists and is no folder", folder);
  if (overwrite || fs::is_empty(folder, error)) return;
  Throw(ErrorCode::kInvalidArgument,
        "{}: is not empty, and nnU-Net takes all files of a folder for predictions; choose a new "
        "folder (option force writes over what is there)",
        folder);
}

void CheckIsNoInput(const NnunetFolders& found, const std::string& folder) {
  const fs::path out = ResolvedPath(folder);
  for (const MemberFiles& member : found.members) {
    for (const auto& [id, match] : member.files) {
      if (fs::path(ResolvedPath(match.path)).parent_path() != out) continue;
      Throw(ErrorCode::kInvalidArgument,
            "{}: is a folder that is read; choose another one to write to",
            folder);
    }
  }
}

Dataset DescribePredictions(const Model& model,
                            const NnunetFolders& found,
                            const std::string& images) {
  Dataset dataset;
  dataset.name = found.members.front().name;
  dataset.input = InputKind::kProbs;
  dataset.classes = model.classes();
  if (!found.dataset_json.empty()) ReadNnunetLabels(found.dataset_json, &dataset);
  IndexPatterns patterns;
  if (!images.empty())
    patterns.images = (fs::path(images) / ("{case}_0000" + found.file_ending)).string();
  IndexMembers(found.members, patterns, {}, &dataset);
  return dataset;
}

// Probabilities, and label maps where their format can be written.
std::vector<PlannedOutput> PlanNnunet(const NnunetFolders& found,
                                      const std::string& folder,
                                      std::vector<std::string>* warnings) {
  std::vector<PlannedOutput> outputs = {
      {&FindOutputKind("probabilities"), &FindWritableFormat("npz"), folder, ".npz"}};
  const FormatInfo* labels = FormatByExtension("x" + found.file_ending);
  if (labels != nullptr && labels->create != nullptr) {
    outputs.push_back({&FindOutputKind("labels"), labels, folder, found.file_ending});
  } else {
    warnings->push_back(fmt::format(
        "label maps are not written: segcal has no {} files; nnUNetv2_ensemble makes them",
        found.file_ending));
  }
  return outputs;
}

// The label map that nnU-Net wrote beside the first member's probabilities; empty: none.
std::string LabelMapBeside(const Case& entry, const NnunetFolders& found) {
  std::string path = Beside(entry.members.front().path(), found.file_ending);
  return IsFile(path) ? path : "";
}

void CheckLabelMaps(const Dataset& dataset, const NnunetFolders& found) {
  for (const Case& entry : dataset.cases) {
    const std::string label_map = LabelMapBeside(entry, found);
    if (!label_map.empty()) CheckNnunetOrientation(found, label_map);
  }
}

// Copies `from` into the folder; false where there is no such file.
bool CarryOver(const std::string& from, const std::string& folder, ApplyResult* result) {
  if (!IsFile(from)) return false;
  const fs::path to = fs::path(folder) / fs::path(from).filename();
  CopyFile(from, to.string());
  result->files.push_back(to.string());
  return true;
}

void CarryOverRest(const NnunetFolders& found,
                   const Dataset& dataset,
                   const std::string& folder,
                   ApplyResult* result) {
  std::vector<std::string> missing;
  for (const Case& entry : dataset.cases) {
    if (!IsFile((fs::path(folder) / (entry.id + ".npz")).string())) continue;  // skipped
    const std::string pickle = Beside(entry.members.front().path(), ".pkl");
    if (!CarryOver(pickle, folder, result)) missing.push_back(pickle);
  }
  if (!missing.empty()) {
    result->warnings.push_back(
        fmt::format("{} of {} cases have no .pkl, which nnUNetv2_ensemble needs (first {})",
                    missing.size(),
                    dataset.cases.size(),
                    missing.front()));
  }
  for (const auto& [name, from] :
       {std::pair{"dataset.json", found.dataset_json}, std::pair{"plans.json", found.plans_json}}) {
    if (CarryOver(from, folder, result)) continue;
    result->warnings.push_back(
        fmt::format("there is no {} to carry over, which nnU-Net's tools need", name));
  }
}

}  // namespace

ApplyResult ApplyNnunet(const Model& model,
                        const std::vector<std::string>& inputs,
                        const std::string& folder,
                        const NnunetApplyOptions& options) {
  const ProgressScope scope(options.run.progress);
  if (inputs.empty())
    Throw(ErrorCode::kInvalidArgument, "no folder of nnU-Net is named, at least one is required");
  const NnunetFolders found = FindNnunetFolders(inputs, {}, /*allow_missing=*/false);
  CheckIsNoInput(found, folder);
  CheckOutputFolder(folder, options.overwrite);
  const Dataset dataset = DescribePredictions(model, found, options.images);
  CheckCompatible(model, dataset);
  CheckLabelMaps(dataset, found);
  std::vector<std::string> warnings = found.notes;
  const ApplyPlan plan{.outputs = PlanNnunet(found, folder, &warnings),
                       .dtype = DType::kF32,
                       .compress = true,
                       .force = options.overwrite,
                       .reference = [&](const Case& entry, const CaseReader&) {
                         return LabelMapBeside(entry, found);
                       }};
  ApplyResult result = RunApply(model, dataset, plan, options.run);
  result.warnings.insert(result.warnings.begin(), warnings.begin(), warnings.end());
  CarryOverRest(found, dataset, folder, &result);
  return result;
}

}  // namespace segcal
