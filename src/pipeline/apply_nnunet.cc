// SPDX-License-Identifier: Apache-2.0
#include "pipeline/apply_nnunet.h"

#include <filesystem>
#include <set>

#include "core/file.h"
#include "core/progress.h"
#include "core/throw.h"
#include "pipeline/compatible.h"

namespace segcal {
namespace {

namespace fs = std::filesystem;

std::string Beside(const std::string& npz, const std::string& ending) {
  return fs::path(npz).replace_extension(ending).string();
}

// The names that files of the cases have in an output folder.
std::set<std::string> OwnNames(const Dataset& dataset, const NnunetFolders& found) {
  std::set<std::string> names = {"dataset.json", "plans.json"};
  for (const Case& c : dataset.cases) {
    for (const std::string& ending : {std::string(".npz"), std::string(".pkl"), found.file_ending})
      names.insert(c.id + ending);
  }
  return names;
}

bool HoldsOnly(const std::string& folder, const std::set<std::string>& names) {
  std::error_code error;  // writing says what is wrong
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (!names.contains(entry.path().filename().string())) return false;
  }
  return true;
}

// nnU-Net takes every prediction of a folder: what else is in it would be mixed with ours. `own`
// are names that do no harm.
void CheckOutputFolder(const std::string& folder,
                       bool overwrite,
                       const std::set<std::string>& own) {
  if (folder.empty())
    Throw(ErrorCode::kInvalidArgument, "the folder to write to has an empty name");
  std::error_code error;  // making the folder says what is wrong
  if (!fs::exists(folder, error)) return;
  if (!IsFolder(folder)) Throw(ErrorCode::kIo, "{}: exists and is no folder", folder);
  if (overwrite || HoldsOnly(folder, own)) return;
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

// Copies `from` into the folder and returns where it is there; empty where there is no such file.
std::string CarryOver(const std::string& from, const std::string& folder) {
  if (!IsFile(from)) return {};
  std::string to = (fs::path(folder) / fs::path(from).filename()).string();
  CopyFile(from, to);
  return to;
}

}  // namespace

NnunetJob::NnunetJob(const Model& model,
                     const std::vector<std::string>& inputs,
                     const std::string& folder,
                     const NnunetApplyOptions& options,
                     bool shared)
    : model_(model), folder_(folder), options_(options), shared_(shared) {
  if (inputs.empty())
    Throw(ErrorCode::kInvalidArgument, "no folder of nnU-Net is named, at least one is required");
  found_ = FindNnunetFolders(inputs, {}, /*allow_missing=*/false);
  CheckIsNoInput(found_, folder);
  if (!shared) CheckOutputFolder(folder, options.overwrite, {});
  dataset_ = DescribePredictions(model, found_, options.images);
  if (shared) CheckOutputFolder(folder, options.overwrite, OwnNames(dataset_, found_));
  CheckCompatible(model, dataset_);
  CheckLabelMaps(dataset_, found_);
  notes_ = found_.notes;
  PlanNnunet(found_, folder, &notes_);
}

AppliedCases NnunetJob::Run(const Dataset& cases) const {
  std::vector<std::string> noted;
  const ApplyPlan plan{.outputs = PlanNnunet(found_, folder_, &noted),
                       .dtype = DType::kF32,
                       .compress = true,
                       .force = options_.overwrite,
                       .shared = shared_,
                       .reference = [&](const Case& entry, const CaseReader&) {
                         return LabelMapBeside(entry, found_);
                       }};
  AppliedCases done = ApplyToCases(model_, cases, plan, options_.run);
  size_t next = 0;
  for (const Case& entry : cases.cases) {
    if (next == done.cases.size() || done.cases[next].id != entry.id) continue;  // skipped
    const std::string pickle = Beside(entry.members.front().path(), ".pkl");
    AppliedCase& applied = done.cases[next++];
    applied.carried_over = CarryOver(pickle, folder_);
    if (applied.carried_over.empty()) applied.not_there = pickle;
  }
  return done;
}

ApplySummary NnunetJob::Summarise() const {
  ApplySummary summary = SummariseApply(model_, dataset_);
  summary.notes = notes_;
  for (const auto& [name, from] : {std::pair{"dataset.json", found_.dataset_json},
                                   std::pair{"plans.json", found_.plans_json}}) {
    const std::string to = CarryOver(from, folder_);
    if (!to.empty()) {
      summary.files.push_back(to);
    } else {
      summary.warnings.push_back(
          fmt::format("there is no {} to carry over, which nnU-Net's tools need", name));
    }
  }
  return summary;
}

ApplyResult ApplyNnunet(const Model& model,
                        const std::vector<std::string>& inputs,
                        const std::string& folder,
                        const NnunetApplyOptions& options) {
  const ProgressScope scope(options.run.progress);
  const NnunetJob job(model, inputs, folder, options, /*shared=*/false);
  AppliedCases done = job.Run(job.dataset());
  if (done.cases.empty()) return FinishApply(SummariseApply(model, job.dataset()), std::move(done));
  return FinishApply(job.Summarise(), std::move(done));
}

}  // namespace segcal
