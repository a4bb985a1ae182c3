// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <set>

#include "core/file.h"
#include "core/throw.h"
#include "data/array_source.h"
#include "data/nnunet.h"

namespace segcal {
namespace {

namespace fs = std::filesystem;

// A folder becomes the pattern of the files that nnU-Net keeps in it.
std::string PatternIn(const std::string& given, const std::string& name) {
  if (given.empty() || given.find('{') != std::string::npos) return given;
  if (!IsFolder(given)) Throw(ErrorCode::kIo, "{}: not a folder", given);
  return (fs::path(given) / name).string();
}

bool HasImages(const fs::path& folder, const NnunetFolders& found) {
  for (const auto& [id, match] : found.members.front().files) {
    if (!IsFile((folder / (id + "_0000" + found.file_ending)).string())) return false;
  }
  return true;
}

// Labels and images as given; those of a trained model as nnU-Net keeps them.
IndexPatterns FindTruth(const NnunetFolders& found,
                        const IndexPatterns& given,
                        std::vector<std::string>* notes) {
  IndexPatterns patterns = given;
  const std::string image_name = "{case}_0000" + found.file_ending;
  if (given.labels.empty() && found.out_of_fold) {
    const fs::path labels = FindNnunetLabels(found);
    notes->push_back("labels from " + labels.string());
    patterns.labels = labels.string();
    const fs::path images = labels.parent_path() / "imagesTr";
    if (given.images.empty() && HasImages(images, found)) patterns.images = images.string();
  }
  patterns.labels = PatternIn(patterns.labels, "{case}" + found.file_ending);
  patterns.images = PatternIn(patterns.images, image_name);
  return patterns;
}

std::string DescribeMembers(const NnunetFolders& found) {
  const MemberFiles& first = found.members.front();
  if (!found.out_of_fold) {
    return fmt::format("{} cases, predicted by {} folder{}",
                       first.files.size(),
                       found.members.size(),
                       found.members.size() == 1 ? "" : "s, each a member");
  }
  std::set<std::string> folds;
  for (const auto& [id, match] : first.files) folds.insert(match.group);
  return fmt::format(
      "{} cases out of fold: each was predicted by the one of {} folds that was not "
      "trained on it",
      first.files.size(),
      folds.size());
}

void CheckOrientations(const NnunetFolders& found, const Dataset& dataset) {
  for (const Case& c : dataset.cases) {
    fs::path label_map = FullPath(dataset, c.labels.empty() ? c.members.front() : c.labels);
    if (c.labels.empty()) label_map.replace_extension(found.file_ending);
    if (IsFile(label_map.string())) CheckNnunetOrientation(found, label_map.string());
  }
}

}  // namespace

std::vector<std::string> IndexNnunet(const NnunetFolders& found,
                                     const IndexOptions& options,
                                     Dataset* dataset) {
  std::vector<std::string> notes = {DescribeMembers(found)};
  notes.insert(notes.end(), found.notes.begin(), found.notes.end());
  const IndexPatterns patterns = FindTruth(found, options.patterns, &notes);
  IndexMembers(found.members, patterns, {.allow_missing = options.allow_missing}, dataset);
  if (!options.group_by_fold) {
    for (Case& c : dataset->cases) c.group.clear();
  }
  CheckOrientations(found, *dataset);
  return notes;
}

}  // namespace segcal
