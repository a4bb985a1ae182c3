// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/streams.h"
#include "cli/throw.h"
#include "segcal/files.h"
#include "segcal/index.h"

namespace segcal::cli {
namespace {

struct IndexArguments {
  std::string output;
  IndexOptions options;
  std::string input;
  std::string layout = Name(Layout::kChannelsFirst);
  std::vector<std::string> nnunet;
  std::vector<std::string> splits;
  bool force = false;
  bool json = false;
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

// A file among the folders of nnU-Net is its dataset.json.
void SetNnunet(const std::vector<std::string>& paths, IndexOptions* options) {
  for (const std::string& path : paths) {
    if (!path.ends_with(".json")) {
      options->nnunet_folders.push_back(path);
    } else if (options->nnunet.empty()) {
      options->nnunet = path;
    } else {
      Throw(ErrorCode::kInvalidArgument,
            "--nnunet: two files, {} and {}; one dataset.json is required",
            options->nnunet,
            path);
    }
  }
}

void CheckStated(const IndexOptions& options) {
  if (!options.nnunet_folders.empty()) return;
  if (options.patterns.members.empty())
    Throw(ErrorCode::kInvalidArgument, "--members, or folders for --nnunet, are required");
  if (!options.input)
    Throw(ErrorCode::kInvalidArgument,
          "--input is required: logits, log_probabilities or probabilities");
}

// A folder stands for the data set file in it.
std::string OutputFile(const std::string& output) {
  if (!NamesFolder(output)) return output;
  return (std::filesystem::path(output) / "dataset.json").string();
}

// Before the work of what is known then, and again with the cases that were found.
void CheckOutput(const IndexArguments& given, const std::string& file, const Dataset& found) {
  OutputCheck check(given.force);
  for (const std::string& path : given.nnunet) check.Reads(path);
  check.Reads(given.options.label_map);
  check.Reads(found);
  check.Writes(file, FileKind::kDataset);
}

// Where there are fewer groups than splits.
void WarnOfEmptySplits(const IndexOptions& options, const Dataset& dataset) {
  for (const auto& named : options.splits) {
    const std::string& split = named.first;
    const bool used = std::any_of(dataset.cases.begin(), dataset.cases.end(), [&](const Case& c) {
      return c.split == split;
    });
    if (used) continue;
    Warn(fmt::format("split \"{}\" has no case: there are too few cases or groups for {} splits",
                     split,
                     options.splits.size()));
  }
}

void Run(const IndexArguments& given) {
  IndexOptions options = given.options;
  if (!given.input.empty()) options.input = ParseInputKind(given.input);
  SetNnunet(given.nnunet, &options);
  CheckStated(options);
  options.layout =
      given.layout == Name(Layout::kChannelsLast) ? Layout::kChannelsLast : Layout::kChannelsFirst;
  for (const std::string& text : given.splits) options.splits.push_back(ParseSplit(text));
  const std::string file = OutputFile(given.output);
  CheckOutput(given, file, {});
  NewFolders folders;
  folders.MakeParent(file);
  const IndexResult result = Index(file, options);
  CheckOutput(given, file, result.dataset);
  if (!result.numbered_by.empty()) {
    Say(fmt::format("{} classes, from the shape of {}; name them with --classes\n",
                    result.dataset.classes.size(),
                    result.numbered_by));
  }
  WarnOfEmptySplits(options, result.dataset);
  SaveDataset(result.file, result.dataset);
  if (given.json) {
    fmt::print("{}", ToJson(result));
    return;
  }
  for (const std::string& note : result.notes) fmt::print(stderr, "{}\n", note);
  PrintSummary(result.file, result.dataset);
}

// "ade20k, camvid, ...".
std::string LabelSetNames() {
  std::string names;
  for (const LabelSet& set : ListLabelSets()) names += (names.empty() ? "" : ", ") + set.name;
  return names;
}

}  // namespace

Action SetUpIndex(CLI::App& app) {
  auto given = std::make_shared<IndexArguments>();
  IndexOptions& options = given->options;
  app.add_option("output", given->output, "Data set file to write; in a folder, dataset.json")
      ->required();
  app.add_option("--members",
                 options.patterns.members,
                 "Pattern of predictions, with {case} and {member}, {class}; or one per member")
      ->allow_extra_args(false);
  app.add_option("--labels",
                 options.patterns.labels,
                 "Pattern of label files, with {case}; with --nnunet also their folder");
  app.add_option("--images",
                 options.patterns.images,
                 "Pattern of images, with {case}; with --nnunet also their folder");
  app.add_option(
      "--masks", options.patterns.masks, "Pattern of masks, with {case}; zero voxels are left out");
  app.add_option("--input",
                 given->input,
                 "What the predictions are; never guessed (nnU-Net's are probabilities)")
      ->check(CLI::IsMember({"logits", "log_probabilities", "probabilities"}));
  app.add_option("--classes", options.classes, "Class names in channel order, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--nnunet",
                 given->nnunet,
                 "Folders of nnU-Net in place of --members: a trained model, whose validation "
                 "folders have every case once, or folders of predictions, each a member. Its "
                 "dataset.json, with class names and ignore label, is found there, or given here");
  app.add_flag("--batch",
               options.batch,
               "The first axis of every file counts images: item 3 of the file of case b is the "
               "case b_3");
  app.add_flag("--group-by-fold", options.group_by_fold, "Cases of one nnU-Net fold are a group");
  app.add_option("--name", options.name, "Name of the data set (default: its folder)");
  app.add_option("--ignore-label", options.ignore_label, "Label value of voxels to leave out");
  app.add_option("--background", options.background, "Class that is background");
  app.add_option("--label-map",
                 options.label_map,
                 "cityscapes (labelIds), ade20k, camvid, or a JSON file {\"7\": 0, ...}");
  app.add_option("--label-set",
                 options.label_set,
                 "Published data set whose class names, colours and label values these are: " +
                     LabelSetNames());
  app.add_option("--layout", given->layout, "Axis order of the predictions")
      ->check(CLI::IsMember({"channels_first", "channels_last"}))
      ->capture_default_str();
  app.add_option(
      "--key",
      options.key,
      "Array inside .npz files (default: probabilities, softmax, logits, or the only one)");
  app.add_option(
         "--split",
         given->splits,
         "name=share, separated by commas; groups stay together. Shares are of all cases, scaled "
         "to a sum of one")
      ->delimiter(',')
      ->allow_extra_args(false);
  AddSeed(app, &options.seed, "Seed of the split");
  app.add_flag(
      "--allow-missing", options.allow_missing, "Go on where a case has no labels, image or mask");
  AddForce(app, &given->force);
  app.add_flag("--json", given->json, "Print the result as JSON");
  app.footer(
      "Fields: {case}, {member}, {class} (one file per class), {group} (cases of one group stay on "
      "one side of a split);\n* matches anything within a name.\n\nExamples:\n"
      "  segcal index camvid.json --members 'logits/{member}/{case}.npy' --labels 'gt/{case}.png' "
      "\\\n"
      "    --input logits --ignore-label 255 --split calibration=0.4,validation=0.2,test=0.4\n"
      "  segcal index brain.json --nnunet "
      "nnUNet_results/Dataset004_Hippocampus/nnUNetTrainer__nnUNetPlans__3d_fullres \\\n"
      "    --split calibration=0.7,test=0.3        # out of fold, labels from nnUNet_raw\n"
      "  segcal index new.json --nnunet predicted/fold_0 predicted/fold_1 --labels labelsTs");
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
