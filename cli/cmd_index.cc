// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>

#include "cli/command.h"
#include "core/file.h"
#include "core/json.h"
#include "core/throw.h"
#include "data/case_reader.h"
#include "data/index_files.h"
#include "data/label_maps.h"
#include "formats/array.h"
#include "segcal/dataset.h"

namespace segcal::cli {
namespace {

struct IndexArguments {
  std::string output;
  IndexPatterns patterns;
  std::vector<std::string> classes;
  std::string nnunet;
  std::string input;
  std::string name;
  std::string label_map;
  std::string layout = "channels_first";
  std::string key;
  std::vector<std::string> splits;
  int64_t ignore_label = -1;
  int64_t background = -1;
  bool has_ignore = false;
  bool has_background = false;
  bool allow_missing = false;
  bool json = false;
  uint64_t seed = 0;
};

// "calibration=0.5".
std::pair<std::string, double> ParseSplit(const std::string& text) {
  const size_t equals = text.find('=');
  double share = 0.0;
  const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
  const auto result = std::from_chars(number.data(), number.data() + number.size(), share);
  if (equals == 0 || number.empty() || result.ptr != number.data() + number.size()) {
    Throw(ErrorCode::kInvalidArgument,
          "--split {}: name=share is required, for example calibration=0.5",
          text);
  }
  return {text.substr(0, equals), share};
}

// Without names, classes are numbered by the channels of the first prediction.
void NumberClasses(Dataset* dataset) {
  const std::string path =
      (std::filesystem::path(dataset->folder) / dataset->cases[0].members[0].path()).string();
  const auto array = OpenArray(path, {.key = dataset->key, .cache_dir = {}});
  const std::vector<int64_t>& shape = array->info().shape;
  const int64_t channels = dataset->layout == Layout::kChannelsLast ? shape.back() : shape.front();
  for (int64_t c = 0; c < channels; ++c) dataset->classes.push_back(fmt::format("class_{}", c));
  fmt::print(
      stderr, "{} classes, from the shape of {}; name them with --classes\n", channels, path);
}

// What is wrong with all cases shows in the first: the number of classes, the layout, the labels.
void CheckFirstCase(const Dataset& dataset) {
  const CaseReader first(dataset, dataset.cases.front(), {}, {.key = dataset.key, .cache_dir = {}});
}

// "calibration 8, test 4"; empty without splits.
std::string SplitCounts(const Dataset& dataset) {
  std::map<std::string, int64_t> counts;
  for (const Case& c : dataset.cases) {
    if (!c.split.empty()) ++counts[c.split];
  }
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [split, count] : counts) parts.push_back(fmt::format("{} {}", split, count));
  return fmt::format("{}", fmt::join(parts, ", "));
}

void PrintSummary(const std::string& file, const Dataset& dataset) {
  fmt::print("wrote {}: {}, {}, {}\n",
             file,
             Counted(std::ssize(dataset.cases), "case"),
             Counted(std::ssize(dataset.cases.front().members), "member"),
             Counted(std::ssize(dataset.classes), "class", "es"));
  const std::string splits = SplitCounts(dataset);
  if (!splits.empty()) fmt::print("splits: {}\n", splits);
  const auto unlabelled = std::count_if(
      dataset.cases.begin(), dataset.cases.end(), [](const Case& c) { return c.labels.empty(); });
  if (unlabelled > 0)
    fmt::print("without labels: {} of {} cases\n", unlabelled, dataset.cases.size());
  fmt::print("next: segcal inspect {}\n", file);
}

void Run(const IndexArguments& given) {
  std::vector<std::pair<std::string, double>> splits;
  for (const std::string& text : given.splits) splits.push_back(ParseSplit(text));
  Dataset dataset;
  const std::filesystem::path output(given.output);
  dataset.folder = output.parent_path().string();
  dataset.name = given.name.empty()
                     ? std::filesystem::absolute(output).parent_path().filename().string()
                     : given.name;
  dataset.input = ParseInputKind(given.input);
  dataset.layout =
      given.layout == Name(Layout::kChannelsLast) ? Layout::kChannelsLast : Layout::kChannelsFirst;
  dataset.key = given.key;
  dataset.classes = given.classes;
  if (!given.nnunet.empty()) ReadNnunetLabels(given.nnunet, &dataset);
  if (given.has_ignore) dataset.ignore_label = given.ignore_label;
  if (given.has_background) dataset.background = given.background;
  if (!given.label_map.empty()) {
    dataset.label_map = LoadLabelMap(given.label_map);
    if (!dataset.ignore_label) dataset.ignore_label = 255;
  }
  IndexFiles(given.patterns, given.allow_missing, &dataset);
  if (dataset.classes.empty()) NumberClasses(&dataset);
  CheckFirstCase(dataset);
  if (!splits.empty()) AssignSplits(&dataset, splits, given.seed);
  CreateParentFolder(given.output);
  SaveDataset(given.output, dataset);
  if (given.json) {
    fmt::print("{}",
               DumpJson({{"file", given.output},
                         {"cases", dataset.cases.size()},
                         {"members", dataset.cases.front().members.size()},
                         {"classes", dataset.classes}}));
    return;
  }
  PrintSummary(given.output, dataset);
}

}  // namespace

Action SetUpIndex(CLI::App& app) {
  auto given = std::make_shared<IndexArguments>();
  app.add_option("output", given->output, "Data set file to write")->required();
  app.add_option("--members",
                 given->patterns.members,
                 "Pattern of predictions, with {case} and {member}; or one per member")
      ->required()
      ->allow_extra_args(false);
  app.add_option("--labels", given->patterns.labels, "Pattern of label files, with {case}");
  app.add_option("--images", given->patterns.images, "Pattern of images, with {case}");
  app.add_option(
      "--masks", given->patterns.masks, "Pattern of masks, with {case}; zero voxels are left out");
  app.add_option("--input", given->input, "What the predictions are; never guessed")
      ->required()
      ->check(CLI::IsMember({"logits", "log_probabilities", "probabilities"}));
  app.add_option("--classes", given->classes, "Class names in channel order, separated by commas")
      ->delimiter(',');
  app.add_option(
      "--nnunet", given->nnunet, "nnU-Net dataset.json to take class names and ignore label from");
  app.add_option("--name", given->name, "Name of the data set (default: its folder)");
  CLI::Option* ignore =
      app.add_option("--ignore-label", given->ignore_label, "Label value of voxels to leave out");
  CLI::Option* background =
      app.add_option("--background", given->background, "Class that is background");
  app.add_option("--label-map",
                 given->label_map,
                 "cityscapes (labelIds), ade20k, or a JSON file {\"7\": 0, ...}");
  app.add_option("--layout", given->layout, "Axis order of the predictions")
      ->check(CLI::IsMember({"channels_first", "channels_last"}))
      ->capture_default_str();
  app.add_option(
      "--key",
      given->key,
      "Array inside .npz files (default: probabilities, softmax, logits, or the only one)");
  app.add_option(
         "--split",
         given->splits,
         "name=share, separated by commas; groups stay together. Shares are of all cases, scaled "
         "to a sum of one")
      ->delimiter(',');
  app.add_option("--seed", given->seed, "Seed of the split")->capture_default_str();
  app.add_flag(
      "--allow-missing", given->allow_missing, "Go on where a case has no labels, image or mask");
  app.add_flag("--json", given->json, "Print the result as JSON");
  app.footer(
      "Fields: {case}, {member}, {group} (cases of one group stay on one side of a split); * "
      "matches anything\n"
      "within a name.\n\nExamples:\n"
      "  segcal index camvid.json --members 'logits/{member}/{case}.npy' --labels 'gt/{case}.png' "
      "\\\n"
      "    --input logits --ignore-label 255 --split calibration=0.4,validation=0.2,test=0.4\n"
      "  segcal index brain.json --members 'fold_{member}/validation/{case}.npz' --labels "
      "'labelsTr/{case}.nii.gz' \\\n"
      "    --input probabilities --nnunet dataset.json");
  return [given, ignore, background] {
    given->has_ignore = ignore->count() > 0;
    given->has_background = background->count() > 0;
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
