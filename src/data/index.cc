// SPDX-License-Identifier: Apache-2.0
#include "segcal/index.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/json.h"
#include "data/case_reader.h"
#include "data/index_files.h"
#include "formats/array.h"

namespace segcal {
namespace {

// What the options say without a look at the cases.
Dataset DescribeDataset(const std::filesystem::path& file, const IndexOptions& options) {
  Dataset dataset;
  dataset.folder = file.parent_path().string();
  dataset.name = options.name.empty()
                     ? std::filesystem::absolute(file).parent_path().filename().string()
                     : options.name;
  dataset.input = options.input;
  dataset.layout = options.layout;
  dataset.key = options.key;
  dataset.classes = options.classes;
  if (!options.nnunet.empty()) ReadNnunetLabels(options.nnunet, &dataset);
  if (options.ignore_label) dataset.ignore_label = options.ignore_label;
  if (options.background) dataset.background = options.background;
  if (!options.label_map.empty()) {
    dataset.label_map = LoadLabelMap(options.label_map);
    if (!dataset.ignore_label) dataset.ignore_label = 255;
  }
  return dataset;
}

// Names classes by the channels of the first prediction, and returns its file.
std::string NumberClasses(Dataset* dataset) {
  std::string path =
      (std::filesystem::path(dataset->folder) / dataset->cases[0].members[0].path()).string();
  const auto array = OpenArray(path, {.key = dataset->key, .cache_dir = {}});
  const std::vector<int64_t>& shape = array->info().shape;
  const int64_t channels = dataset->layout == Layout::kChannelsLast ? shape.back() : shape.front();
  for (int64_t c = 0; c < channels; ++c) dataset->classes.push_back(fmt::format("class_{}", c));
  return path;
}

// What is wrong with all cases shows in the first: the number of classes, the layout, the labels.
void CheckFirstCase(const Dataset& dataset) {
  const CaseReader first(dataset, dataset.cases.front(), {}, {.key = dataset.key, .cache_dir = {}});
}

}  // namespace

IndexResult Index(const std::string& file, const IndexOptions& options) {
  IndexResult result{.file = file, .dataset = DescribeDataset(file, options), .numbered_by = {}};
  Dataset& dataset = result.dataset;
  IndexFiles(options.patterns, options.allow_missing, &dataset);
  if (dataset.classes.empty()) result.numbered_by = NumberClasses(&dataset);
  CheckDataset(dataset, file);
  CheckFirstCase(dataset);
  if (!options.splits.empty()) AssignSplits(&dataset, options.splits, options.seed);
  return result;
}

std::string ToJson(const IndexResult& result) {
  const std::vector<Case>& cases = result.dataset.cases;
  return DumpJson({{"file", result.file},
                   {"cases", cases.size()},
                   {"members", cases.empty() ? 0 : cases.front().members.size()},
                   {"classes", result.dataset.classes}});
}

}  // namespace segcal
