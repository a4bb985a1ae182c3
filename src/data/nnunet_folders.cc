// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/file.h"
#include "core/json.h"
#include "core/throw.h"
#include "data/file_pattern.h"
#include "data/nnunet.h"
#include "formats/nifti_place.h"

namespace segcal {
namespace {

namespace fs = std::filesystem;

// One folder with <case>.npz.
struct Predictions {
  fs::path folder;
  fs::path member;   // folders of one member have the same
  std::string fold;  // "fold_0"; empty: no validation folder
};

// The fold that saw every case: what it predicts for them says nothing about new ones.
constexpr const char* kTrainedOnAll = "fold_all";

std::vector<fs::path> Entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator it(folder, error), end; it != end; it.increment(error))
    entries.push_back(it->path());
  if (error)
    Throw(ErrorCode::kIo, "{}: cannot list the folder: {}", folder.string(), error.message());
  std::sort(entries.begin(), entries.end(), [](const fs::path& a, const fs::path& b) {
    return NaturalLess(a.string(), b.string());
  });
  return entries;
}

// Names of the files that end in `ending`, without it; hidden files are none of nnU-Net's.
std::vector<std::string> Stems(const fs::path& folder, const std::string& ending) {
  std::vector<std::string> stems;
  for (const fs::path& entry : Entries(folder)) {
    const std::string name = entry.filename().string();
    if (name.size() <= ending.size() || !name.ends_with(ending) || name.starts_with('.')) continue;
    if (IsFile(entry)) stems.push_back(name.substr(0, name.size() - ending.size()));
  }
  return stems;
}

bool IsFoldName(const std::string& name) { return name.starts_with("fold_"); }

Predictions ValidationOf(const fs::path& fold) {
  return {fold / "validation", ResolvedPath(fold.parent_path()), fold.filename().string()};
}

[[noreturn]] void RefuseTrainedOnAll(const fs::path& folder) {
  Throw(ErrorCode::kBadData,
        "{}: was trained on all cases, so what it predicts for them is too good to calibrate on; "
        "train folds 0 to 4, or predict other cases",
        folder.string());
}

// The validation folders of a trained model.
std::vector<Predictions> FoldsOf(const fs::path& model, std::vector<std::string>* notes) {
  std::vector<Predictions> folds;
  bool trained_on_all = false;
  for (const fs::path& entry : Entries(model)) {
    if (!IsFoldName(entry.filename().string()) || !IsFolder(entry / "validation")) continue;
    if (entry.filename() == kTrainedOnAll) {
      trained_on_all = true;
    } else {
      folds.push_back(ValidationOf(entry));
    }
  }
  if (!trained_on_all) return folds;
  if (folds.empty()) RefuseTrainedOnAll(model / kTrainedOnAll);
  notes->push_back(
      fmt::format("{} is left out: it was trained on all cases", (model / kTrainedOnAll).string()));
  return folds;
}

[[noreturn]] void RefuseOther(const fs::path& folder) {
  std::vector<std::string> with_predictions;
  for (const fs::path& entry : Entries(folder)) {
    if (IsFolder(entry) && !Stems(entry, ".npz").empty())
      with_predictions.push_back(entry.string());
  }
  Throw(ErrorCode::kBadData,
        "{}: neither predictions <case>.npz nor a trained model with fold_*/validation; {}",
        folder.string(),
        with_predictions.empty()
            ? "nnU-Net writes probabilities with \"nnUNetv2_predict ... --save_probabilities\", "
              "and those of the folds with \"nnUNetv2_train ... --npz\""
            : fmt::format("its folders have predictions, give them instead, one per member: {}",
                          fmt::join(with_predictions, " ")));
}

// What one folder given by the user stands for.
std::vector<Predictions> Expand(const std::string& given, std::vector<std::string>* notes) {
  fs::path folder = fs::path(given).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "x/" is "x"
  if (!IsFolder(folder)) Throw(ErrorCode::kIo, "{}: not a folder", given);
  const fs::path absolute = ResolvedPath(folder);
  if (absolute.filename() == "validation" &&
      IsFoldName(absolute.parent_path().filename().string())) {
    if (absolute.parent_path().filename() == kTrainedOnAll) RefuseTrainedOnAll(folder);
    return {{folder, absolute.parent_path().parent_path(), absolute.parent_path().filename()}};
  }
  if (!Stems(folder, ".npz").empty()) return {{folder, absolute, ""}};
  if (absolute.filename() == kTrainedOnAll) RefuseTrainedOnAll(folder);
  if (IsFoldName(absolute.filename().string()) && IsFolder(folder / "validation"))
    return {{folder / "validation", absolute.parent_path(), absolute.filename()}};
  std::vector<Predictions> folds = FoldsOf(folder, notes);
  if (folds.empty()) RefuseOther(folder);
  return folds;
}

// A label map without probabilities shows that nnU-Net was not told to keep them.
void CheckComplete(const Predictions& predictions,
                   const std::vector<std::string>& cases,
                   const std::string& ending,
                   bool allow_missing,
                   std::vector<std::string>* notes) {
  std::vector<std::string> missing;
  for (const std::string& stem : Stems(predictions.folder, ending)) {
    if (std::find(cases.begin(), cases.end(), stem) == cases.end()) missing.push_back(stem);
  }
  if (cases.empty() && missing.empty())
    Throw(ErrorCode::kBadData, "{}: no predictions <case>.npz", predictions.folder.string());
  if (missing.empty()) return;
  const std::string what =
      fmt::format("{}: {} of {} cases have a label map but no probabilities (.npz), first {}",
                  predictions.folder.string(),
                  missing.size(),
                  missing.size() + cases.size(),
                  missing.front());
  if (allow_missing && !cases.empty()) {
    notes->push_back(what);
    return;
  }
  Throw(ErrorCode::kBadData,
        "{}; nnU-Net keeps them with \"{}\"",
        what,
        predictions.fold.empty()
            ? "nnUNetv2_predict ... --save_probabilities"
            : "nnUNetv2_train ... " + predictions.fold.substr(5) + " --val --npz");
}

// Adds the cases of a folder to the member it belongs to.
void AddCases(const Predictions& predictions,
              const std::vector<std::string>& cases,
              std::vector<fs::path>* keys,
              std::vector<MemberFiles>* members) {
  auto key = std::find(keys->begin(), keys->end(), predictions.member);
  if (key == keys->end()) {
    key = keys->insert(keys->end(), predictions.member);
    members->push_back(
        {predictions.fold.empty() ? predictions.folder.string() : predictions.member.string(), {}});
  } else if (predictions.fold.empty()) {
    Throw(ErrorCode::kInvalidArgument, "{}: is given twice", predictions.folder.string());
  }
  FilesByCase& files = (*members)[static_cast<size_t>(key - keys->begin())].files;
  for (const std::string& id : cases) {
    const CaseMatch match{.path = (predictions.folder / (id + ".npz")).string(),
                          .by_class = {},
                          .group = predictions.fold};
    const auto [it, fresh] = files.emplace(id, match);
    if (!fresh) {
      Throw(ErrorCode::kBadData,
            "case \"{}\" is in two folds, {} and {}; in a cross-validation every case is in one",
            id,
            it->second.path,
            match.path);
    }
  }
}

bool IsOfNnunet(const fs::path& file) {
  if (!IsFile(file)) return false;
  const Json json = ReadJson(file.string());
  return json.is_object() && json.contains("labels") && !json.contains("segcal_dataset");
}

// nnU-Net leaves its files beside predictions, or beside the folds of a trained model.
template <class Accept>
std::string FindAbove(const fs::path& folder, const char* name, const Accept& accept) {
  fs::path at = ResolvedPath(folder);
  for (int level = 0; level <= 3 && at.has_relative_path(); ++level, at = at.parent_path()) {
    if (accept(at / name)) return (at / name).string();
  }
  return {};
}

std::string StringIn(const std::string& json_file, const char* key) {
  if (json_file.empty()) return {};
  const Json json = ReadJson(json_file);
  const auto it = json.is_object() ? json.find(key) : json.end();
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

}  // namespace

NnunetFolders FindNnunetFolders(const std::vector<std::string>& folders,
                                const std::string& dataset_json,
                                bool allow_missing) {
  NnunetFolders found;
  std::vector<Predictions> all;
  for (const std::string& folder : folders) {
    for (Predictions& predictions : Expand(folder, &found.notes)) all.push_back(predictions);
  }
  const auto is_file = [](const fs::path& path) { return IsFile(path); };
  found.dataset_json = dataset_json.empty()
                           ? FindAbove(all.front().folder, "dataset.json", IsOfNnunet)
                           : dataset_json;
  found.plans_json = FindAbove(all.front().folder, "plans.json", is_file);
  found.file_ending = StringIn(found.dataset_json, "file_ending");
  if (found.file_ending.empty()) found.file_ending = ".nii.gz";
  std::vector<fs::path> keys;
  for (const Predictions& predictions : all) {
    const std::vector<std::string> cases = Stems(predictions.folder, ".npz");
    CheckComplete(predictions, cases, found.file_ending, allow_missing, &found.notes);
    AddCases(predictions, cases, &keys, &found.members);
    found.out_of_fold = found.out_of_fold || !predictions.fold.empty();
  }
  return found;
}

std::string FindNnunetLabels(const NnunetFolders& found) {
  // <results>/<data set>/<trainer>/fold_0/validation/<case>.npz
  fs::path dataset = ResolvedPath(found.members.front().files.begin()->second.path);
  for (int level = 0; level < 4; ++level) dataset = dataset.parent_path();
  std::string name = StringIn(found.plans_json, "dataset_name");
  if (name.empty()) name = dataset.filename().string();
  const fs::path beside = dataset.parent_path().parent_path();
  std::vector<std::string> tried;
  for (const auto& [variable, folder] : {std::pair{"nnUNet_raw", "labelsTr"},
                                         std::pair{"nnUNet_preprocessed", "gt_segmentations"}}) {
    const char* set = std::getenv(variable);
    for (const fs::path& root : {fs::path(set == nullptr ? "" : set), beside / variable}) {
      if (root.empty()) continue;
      tried.push_back((root / name / folder).string());
      if (IsFolder(tried.back())) return tried.back();
    }
  }
  Throw(ErrorCode::kIo,
        "no folder of true labels found, looked for {}; name it with --labels",
        fmt::join(tried, ", "));
}

void CheckNnunetOrientation(const NnunetFolders& found, const std::string& label_map) {
  if (StringIn(found.plans_json, "image_reader_writer") != "NibabelIOWithReorient") return;
  const std::optional<NiftiPlace> place = ReadNiftiPlace(label_map);
  if (!place || place->is_ras) return;
  Throw(ErrorCode::kUnsupported,
        "{}: its axes do not run right, anterior, superior, but the probabilities do: {} names "
        "NibabelIOWithReorient, which turns images to that order. Turn the label maps, too, or "
        "plan with NibabelIO or SimpleITKIO",
        label_map,
        found.plans_json);
}

}  // namespace segcal
