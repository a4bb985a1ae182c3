// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "cli/arguments.h"
#include "cli/interrupt.h"
#include "core/json.h"
#include "core/throw.h"
#include "train/program/commands.h"
#include "train/run/train.h"

namespace segcal::train {
namespace {

// The network of [Murugesan23]: 32-64-128-256-512 channels, planes of volumes.
constexpr const char* kPaperPreset = "s4";
constexpr UNetOptions kPaperNetwork{.axes = 2, .width = 32, .depth = 5};

struct TrainArguments {
  std::string dataset;
  std::string folder;
  std::string preset;
  std::string patch;
  std::string normalise = "dataset";
  std::string memory;
  std::vector<std::string> loss_options;
  int64_t axes = 0;
  int64_t width = UNetOptions{}.width;
  int64_t depth = UNetOptions{}.depth;
  TrainOptions options;
  bool no_flips = false;
  bool quiet = false;
  bool json = false;
};

// "96x128" for planes, "32x64x64" for volumes.
Extent ParsePatch(const std::string& text) {
  Extent patch = {0, 0, 0};
  std::vector<int64_t> sides;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end && sides.size() < 3) {
    int64_t side = 0;
    const auto parsed = std::from_chars(at, end, side);
    if (parsed.ec != std::errc() || side < 1) break;
    sides.push_back(side);
    at = parsed.ptr;
    if (at < end && *at == 'x') ++at;
  }
  if (at != end || sides.size() < 2) {
    Throw(ErrorCode::kInvalidArgument,
          "--patch {}: HxW or DxHxW is required, for example 96x96",
          text);
  }
  std::copy(sides.begin(), sides.end(), patch.end() - std::ssize(sides));
  return patch;
}

OptionMap ParseLossOptions(const std::vector<std::string>& texts) {
  OptionMap options;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      Throw(ErrorCode::kInvalidArgument, "--set {}: key=value is required", text);
    options[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return options;
}

TrainOptions MakeOptions(const TrainArguments& given) {
  TrainOptions options = given.options;
  TrainSettings& settings = options.settings;
  settings.network.axes = given.axes;
  settings.network.width = given.width;
  settings.network.depth = given.depth;
  if (given.preset == kPaperPreset) settings.network = kPaperNetwork;
  settings.loss_options = ParseLossOptions(given.loss_options);
  if (!given.patch.empty()) settings.patch = ParsePatch(given.patch);
  settings.augment.flips = !given.no_flips;
  settings.normalise_each = given.normalise == "case";
  if (!given.memory.empty()) options.memory = cli::ParseBytes(given.memory);
  options.progress = cli::Interruptible(given.quiet ? ProgressCallback() : cli::ProgressDisplay());
  return options;
}

Json ToJson(const TrainResult& result) {
  return {{"weights", result.num_weights},
          {"members", JsonItems(result.networks, [](const NetworkResult& network) {
             const EpochResult& best = network.history[static_cast<size_t>(network.best_epoch)];
             Json json = {{"member", network.key.member},
                          {"epochs", network.history.size()},
                          {"best_epoch", network.best_epoch + 1},
                          {"nll", JsonNumber(best.nll)},
                          {"dice", JsonNumber(best.dice)}};
             if (network.key.fold >= 0) json["fold"] = network.key.fold;
             return json;
           })}};
}

void Print(const TrainArguments& given, const TrainResult& result) {
  fmt::print("{}: {}, {} weights each\n",
             given.folder,
             cli::Counted(std::ssize(result.networks), "network"),
             cli::HumanCount(result.num_weights));
  for (const NetworkResult& network : result.networks) {
    const EpochResult& best = network.history[static_cast<size_t>(network.best_epoch)];
    fmt::print("  {}: best after epoch {} of {}, validation NLL {:.4f}, Dice {:.3f}\n",
               Name(network.key),
               network.best_epoch + 1,
               network.history.size(),
               best.nll,
               best.dice);
  }
  fmt::print("next: segcal predict {} {}{} -o predictions\n",
             given.folder,
             given.dataset,
             given.options.settings.folds > 0 ? " --folds" : "");
}

void Run(const TrainArguments& given) {
  const Dataset dataset = LoadDataset(given.dataset, Contents::kImages);
  TrainOptions options = MakeOptions(given);
  cli::AdviseOnInterrupt([folder = given.folder] {
    return folder + " keeps all complete epochs; the same command with --resume goes on";
  });
  const TrainResult result = Train(dataset, given.folder, options);
  options.progress = {};  // clears the bar
  if (given.json) {
    fmt::print("{}", DumpJson(ToJson(result)));
    return;
  }
  Print(given, result);
}

std::string TrainFooter() {
  std::string text = "Losses, with their options for --set:\n";
  for (const LossInfo* info : Losses()) {
    std::vector<std::string> options;
    for (const auto& [key, value] : info->default_options()) options.push_back(key + "=" + value);
    text += fmt::format("  {:<8} {}\n", info->name, info->summary);
    if (!options.empty()) text += fmt::format("           {}\n", fmt::join(options, " "));
  }
  text +=
      "\nThe learning rate is a tenth after half of the epochs. The network of the best "
      "validation\n"
      "Dice is kept (best.net) beside the last (last.net), from which --resume goes on.\n\n"
      "Examples:\n  segcal train photos --loss nacl --members 3 -o networks\n"
      "  segcal train photos --folds 5 -o networks\n"
      "  segcal train scans --preset s4 --loss svls --set sigma=1 -o networks";
  return text;
}

std::vector<std::string> LossNames() {
  std::vector<std::string> names;
  for (const LossInfo* info : Losses()) names.emplace_back(info->name);
  return names;
}

void AddNetwork(CLI::App& app, TrainArguments* given) {
  app.add_option("--preset", given->preset, "s4: width 32, depth 5, planes of volumes")
      ->check(CLI::IsMember({kPaperPreset}))
      ->excludes(
          app.add_option("--axes", given->axes, "2: planes, 3: volumes (default: the images')")
              ->check(CLI::Range(2, 3)),
          app.add_option("--width", given->width, "Channels of the first level")
              ->capture_default_str(),
          app.add_option("--depth", given->depth, "Levels, each of half the resolution")
              ->capture_default_str());
}

void AddSchedule(CLI::App& app, TrainArguments* given) {
  TrainSettings& settings = given->options.settings;
  app.add_option("--epochs", settings.epochs, "Times through the training images")
      ->capture_default_str();
  app.add_option("--batch", settings.batch, "Patches per step")->capture_default_str();
  app.add_option("--learning-rate", settings.rate, "Of Adam")->capture_default_str();
  app.add_option("--patch",
                 given->patch,
                 "HxW or DxHxW (default: the image, at most 128 or, of volumes, 64 per axis)");
  app.add_option("--patches", settings.patches, "Of every image and epoch")->capture_default_str();
  app.add_flag("--no-flips", given->no_flips, "Do not mirror patches at random");
  app.add_option("--scale", settings.augment.scale, "Sizes by random factors up to e^SCALE")
      ->capture_default_str();
  app.add_option("--intensity", settings.augment.intensity, "Spread of random contrast and shift")
      ->capture_default_str();
  app.add_option("--noise", settings.augment.noise, "Spread of random noise")
      ->capture_default_str();
  app.add_option("--normalise",
                 given->normalise,
                 "dataset: intensities by the training images, case: every image by itself")
      ->check(CLI::IsMember({"dataset", "case"}))
      ->capture_default_str();
}

}  // namespace

cli::Action SetUpTrain(CLI::App& app) {
  auto given = std::make_shared<TrainArguments>();
  TrainSettings& settings = given->options.settings;
  app.add_option("dataset", given->dataset, "Data set with images and labels")->required();
  app.add_option("-o,--output", given->folder, "Folder to write, new or empty")->required();
  app.add_option("--loss", settings.loss, "What is minimised")
      ->check(CLI::IsMember(LossNames()))
      ->capture_default_str();
  app.add_option("--set", given->loss_options, "key=value: an option of the loss");
  app.add_option("--class-weights", settings.class_weights, "One number per class")->delimiter(',');
  app.add_option("--members", settings.members, "Networks in the ensemble")->capture_default_str();
  app.add_option("--folds",
                 settings.folds,
                 "Deal the training cases into K parts and train every member K times, each time "
                 "without one of them (default: once, with all)");
  cli::AddSeed(app, &settings.seed, "Everything random follows from it");
  AddNetwork(app, given.get());
  AddSchedule(app, given.get());
  app.add_option("--train-split", settings.train_split, "Cases to learn from")
      ->capture_default_str();
  app.add_option("--validation-split", settings.validation_split, "Cases to choose the epoch by")
      ->capture_default_str();
  app.add_flag("--resume", given->options.resume, "Go on with the training in the folder");
  app.add_option("--threads", given->options.threads, "Threads; 0 is all cores")
      ->check(CLI::Range(0, 1024));
  app.add_option("--memory", given->memory, "What a step may take (default: the machine's)");
  app.add_flag("--json", given->json, "Print the result as JSON");
  app.add_flag("--quiet", given->quiet, "No progress display");
  app.footer(TrainFooter());
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::train
