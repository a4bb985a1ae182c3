// SPDX-License-Identifier: Apache-2.0
#include "segcal/index.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/json.h"
#include "core/throw.h"
#include "data/array_source.h"
#include "data/case_reader.h"
#include "data/index_files.h"
#include "data/nnunet.h"

namespace segcal {
namespace {

// Names must not be given twice.
void TakeLabelSet(const LabelSet& set, Dataset* dataset) {
  if (!dataset->classes.empty()) {
    Throw(ErrorCode::kInvalidArgument,
          "classes are named, and by the label set {} too: give one of them",
          set.name);
  }
  dataset->classes = set.classes;
  dataset->colors = set.colors;
  dataset->ignore_label = set.ignore_label;
  dataset->background = set.background;
  dataset->label_map = set.label_map;
}

// What the options say without a look at the cases.
Dataset DescribeDataset(const std::filesystem::path& file,
                        const IndexOptions& options,
                        const std::string& nnunet_json) {
  Dataset dataset;
  dataset.folder = file.parent_path().string();
  dataset.name = options.name.empty()
                     ? std::filesystem::absolute(file).parent_path().filename().string()
                     : options.name;
  dataset.input = options.input;
  if (!options.input && !options.nnunet_folders.empty()) dataset.input = InputKind::kProbs;
  dataset.layout = options.layout;
  dataset.key = options.key;
  dataset.classes = options.classes;
  if (!options.label_set.empty() && !nnunet_json.empty()) {
    Throw(ErrorCode::kInvalidArgument,
          "a label set ({}) and nnU-Net's {} both name the classes: give one of them",
          options.label_set,
          nnunet_json);
  }
  if (!options.label_set.empty()) TakeLabelSet(FindLabelSet(options.label_set), &dataset);
  if (!nnunet_json.empty()) ReadNnunetLabels(nnunet_json, &dataset);
  if (options.ignore_label) dataset.ignore_label = options.ignore_label;
  if (options.background) dataset.background = options.background;
  if (!options.label_map.empty()) {
    dataset.label_map = LoadLabelMap(options.label_map);
    if (!dataset.ignore_label) dataset.ignore_label = 255;
  }
  return dataset;
}

NnunetFolders FindNnunet(const IndexOptions& options) {
  if (!options.patterns.members.empty() || options.batch)
    Throw(ErrorCode::kInvalidArgument,
          "{}: folders of nnU-Net cannot be combined with patterns of members or batches",
          options.nnunet_folders.front());
  NnunetFolders found =
      FindNnunetFolders(options.nnunet_folders, options.nnunet, options.allow_missing);
  if (found.dataset_json.empty() && options.classes.empty()) {
    Throw(
        ErrorCode::kIo,
        "{}: no dataset.json of nnU-Net there or in the folders above; option nnunet names it, too",
        options.nnunet_folders.front());
  }
  return found;
}

// Names classes by the channels of the first prediction, and returns its file.
std::string NumberClasses(Dataset* dataset) {
  const Case& first = dataset->cases.front();
  const auto array = OpenSource(
      *dataset, first, first.members.front(), "member 0", {.key = dataset->key, .cache_dir = {}});
  const std::vector<int64_t>& shape = array->info().shape;
  const int64_t channels = dataset->layout == Layout::kChannelsLast ? shape.back() : shape.front();
  dataset->classes = NumberedClasses(channels);
  return FullPath(*dataset, first.members.front());
}

// What is wrong with all cases shows in the first: the number of classes, the layout, the labels.
void CheckFirstCase(const Dataset& dataset) {
  const CaseReader first(dataset, dataset.cases.front(), {}, {.key = dataset.key, .cache_dir = {}});
}

}  // namespace

IndexResult Index(const std::string& file, const IndexOptions& options) {
  NnunetFolders nnunet;
  nnunet.dataset_json = options.nnunet;
  if (!options.nnunet_folders.empty()) nnunet = FindNnunet(options);
  IndexResult result{.file = file,
                     .dataset = DescribeDataset(file, options, nnunet.dataset_json),
                     .numbered_by = {},
                     .notes = {}};
  Dataset& dataset = result.dataset;
  if (nnunet.members.empty()) {
    IndexFiles(options.patterns, {options.allow_missing, options.batch}, &dataset);
    if (options.batch) SplitBatches(&dataset);
  } else {
    result.notes = IndexNnunet(nnunet, options, &dataset);
  }
  if (dataset.classes.empty()) result.numbered_by = NumberClasses(&dataset);
  CheckDataset(dataset, file);
  CheckFirstCase(dataset);
  if (!options.splits.empty()) AssignSplits(&dataset, options.splits, options.seed);
  return result;
}

std::vector<std::string> NumberedClasses(int64_t num_classes) {
  std::vector<std::string> names;
  for (int64_t c = 0; c < num_classes; ++c) names.push_back(fmt::format("class_{}", c));
  return names;
}

std::string ToJson(const IndexResult& result) {
  const std::vector<Case>& cases = result.dataset.cases;
  return DumpJson({{"file", result.file},
                   {"cases", cases.size()},
                   {"members", cases.empty() ? 0 : cases.front().members.size()},
                   {"classes", result.dataset.classes},
                   {"notes", result.notes}});
}

}  // namespace segcal
