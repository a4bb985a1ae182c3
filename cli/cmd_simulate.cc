// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/throw.h"
#include "segcal/simulate.h"

namespace segcal::cli {
namespace {

struct SimulateArguments {
  std::string folder;
  std::string size;
  int64_t members = 0;  // 0: the preset's
  std::string dtype = Name(SimulateOptions{}.dtype);
  std::string input = Name(SimulateOptions{}.input);
  SimulateOptions options;
  bool quiet = false;
  bool json = false;
  bool images = false;
  int64_t scanners = SimulateImagesOptions{}.num_scanners;
  std::vector<const CLI::Option*> scene_options = {};       // that candidates do not have
  std::vector<const CLI::Option*> prediction_options = {};  // that images do not have
  std::vector<const CLI::Option*> image_options = {};       // that only images have
};

// "360x480" or "48x96x96".
std::vector<int64_t> ParseSize(const std::string& text) {
  std::vector<int64_t> size;
  const char* p = text.data();
  const char* end = p + text.size();
  while (p < end) {
    int64_t value = 0;
    const auto result = std::from_chars(p, end, value);
    if (result.ec != std::errc()) break;
    size.push_back(value);
    p = result.ptr;
    if (p == end) return size;
    if (*p++ != 'x') break;
  }
  Throw(ErrorCode::kInvalidArgument,
        "--size {}: HxW or DxHxW is required, for example 360x480",
        text);
}

// Candidates for label fusion are drawn in another way than predictions of classes.
constexpr const char* kCandidates = "candidates";

// An Error if one of the options is given; `why` ends the message.
void Refuse(const std::vector<const CLI::Option*>& options, const std::string& why) {
  for (const CLI::Option* option : options) {
    if (option->count() > 0) Throw(ErrorCode::kInvalidArgument, "{} {}", option->get_name(), why);
  }
}

SimulateSummary RunCandidates(const SimulateArguments& given, const ProgressCallback& progress) {
  Refuse(given.scene_options, fmt::format("does not apply to the preset {}", kCandidates));
  SimulateCandidatesOptions options;
  const SimulateOptions& wanted = given.options;
  options.num_cases = wanted.num_cases;
  if (given.members > 0) options.num_candidates = given.members;
  if (wanted.num_classes != -1) options.num_classes = wanted.num_classes;
  if (!given.size.empty()) options.size = ParseSize(given.size);
  options.seed = wanted.seed;
  options.temperature = wanted.temperature;
  options.correlation = wanted.correlation;
  options.threads = wanted.threads;
  return SimulateCandidates(given.folder, options, progress);
}

SimulateSummary RunScenes(const SimulateArguments& given, const ProgressCallback& progress) {
  SimulateOptions options = given.options;
  if (given.members > 0) options.num_members = given.members;
  if (!given.size.empty()) options.size = ParseSize(given.size);
  options.dtype = given.dtype == Name(DType::kF16) ? DType::kF16 : DType::kF32;
  options.input = ParseInputKind(given.input);
  return Simulate(given.folder, options, progress);
}

void RunImages(const SimulateArguments& given) {
  Refuse(given.prediction_options, "does not apply to --images, which come without predictions");
  if (given.options.preset == kCandidates)
    Throw(ErrorCode::kInvalidArgument, "--images: the preset {} has none", kCandidates);
  const SimulateOptions& wanted = given.options;
  SimulateImagesOptions options;
  options.preset = wanted.preset;
  options.num_cases = wanted.num_cases;
  options.num_classes = wanted.num_classes;
  if (!given.size.empty()) options.size = ParseSize(given.size);
  options.seed = wanted.seed;
  options.ignore_fraction = wanted.ignore_fraction;
  options.num_scanners = given.scanners;
  options.threads = wanted.threads;
  const SimulateImagesSummary summary = SimulateImages(
      given.folder, options, Interruptible(given.quiet ? ProgressCallback() : ProgressDisplay()));
  if (given.json) {
    fmt::print("{}", ToJson(summary));
    return;
  }
  fmt::print("{}: {}, {}, {} voxels ({} labelled)\n",
             given.folder,
             Counted(summary.num_images, "image"),
             Counted(given.scanners, "scanner"),
             HumanCount(summary.num_voxels),
             HumanCount(summary.num_labelled));
}

void Run(const SimulateArguments& given) {
  if (given.images) return RunImages(given);
  Refuse(given.image_options, "needs --images");
  const SimulateOptions& options = given.options;
  const auto simulate = options.preset == kCandidates ? &RunCandidates : &RunScenes;
  const SimulateSummary summary =
      simulate(given, Interruptible(given.quiet ? ProgressCallback() : ProgressDisplay()));
  if (given.json) {
    fmt::print("{}", ToJson(summary));
    return;
  }
  fmt::print("{}: {} cases, {} {} ({} labelled)\n",
             given.folder,
             options.num_cases,
             HumanCount(summary.num_voxels),
             options.preset == kCandidates ? "votes" : "voxels",
             HumanCount(summary.num_labelled));
  fmt::print("  stored prediction: accuracy {:.2f} %, mean confidence {:.2f} %, NLL {:.5f}\n",
             100.0 * summary.stored_accuracy,
             100.0 * summary.stored_confidence,
             summary.stored_nll);
  fmt::print("  true map:          NLL {:.5f} (what a perfect calibrator reaches)\n",
             summary.true_nll);
}

std::vector<std::string> AllPresets() {
  std::vector<std::string> presets = SimulatePresets();
  presets.emplace_back(kCandidates);
  return presets;
}

}  // namespace

Action SetUpSimulate(CLI::App& app) {
  auto given = std::make_shared<SimulateArguments>();
  SimulateOptions& options = given->options;
  app.add_option("folder", given->folder, "Folder to write, new or empty")->required();
  app.add_option("--preset", options.preset, "Kind of scene")
      ->check(CLI::IsMember(AllPresets()))
      ->capture_default_str();
  app.add_option("--cases", options.num_cases, "Number of images or volumes")
      ->capture_default_str();
  app.add_option("--members",
                 given->members,
                 "Networks in the ensemble (default 1), or candidates to fuse (default 7)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--classes", options.num_classes, "Number of classes (default: the preset's)")
      ->check(CLI::Range(2, 255));
  app.add_option("--size", given->size, "HxW or DxHxW (default: the preset's)");
  AddSeed(app, &options.seed, "Everything follows from it");
  app.add_option("--map", options.true_map, "How the true probabilities follow from the prediction")
      ->check(CLI::IsMember(SimulateTrueMaps()))
      ->capture_default_str();
  app.add_option(
         "--temperature", options.temperature, "Typical true temperature; above 1: over-confident")
      ->capture_default_str();
  app.add_option(
         "--variation", options.variation, "Spread of the other true maps around it, in [0, 1)")
      ->capture_default_str();
  app.add_option("--correlation",
                 options.correlation,
                 "Range of correlated label noise in voxels; 0: independent")
      ->capture_default_str();
  app.add_option("--offset", options.offset, "Spread of the smooth offset added to all logits")
      ->capture_default_str();
  app.add_option("--member-noise", options.member_noise, "Spread of each member's own noise")
      ->capture_default_str();
  app.add_option("--ignore",
                 options.ignore_fraction,
                 "Expected part of voxels without a label (default: the preset's)");
  app.add_option("--dtype", given->dtype, "Type of the predictions")
      ->check(CLI::IsMember({"float16", "float32"}))
      ->capture_default_str();
  app.add_option("--input", given->input, "Kind of the predictions")
      ->check(CLI::IsMember({"logits", "probabilities"}))
      ->capture_default_str();
  app.add_option("--threads", options.threads, "Threads; 0 is all cores")
      ->check(CLI::Range(0, 1024));
  app.add_flag("--images",
               given->images,
               "Images to train a network on, in place of predictions: splits train, validation, "
               "calibration, test and shift");
  app.add_option("--scanners",
                 given->scanners,
                 "With --images: all after the first take the images of split shift")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_flag("--json", given->json, "Print the summary as JSON");
  app.add_flag("--quiet", given->quiet, "No progress display");
  app.footer(
      "Examples:\n  segcal simulate street --preset street --correlation 6\n"
      "  segcal simulate recovery --preset roads --cases 4 --size 512x512 --temperature 1.5\n"
      "  segcal simulate atlases --preset candidates --members 9    (see segcal fuse)\n"
      "  segcal simulate photos --images --cases 40 --size 192x256");
  for (const char* name :
       {"--map", "--variation", "--offset", "--member-noise", "--ignore", "--dtype", "--input"})
    given->scene_options.push_back(app.get_option(name));
  for (const char* name : {"--members",
                           "--map",
                           "--temperature",
                           "--variation",
                           "--correlation",
                           "--offset",
                           "--member-noise",
                           "--dtype",
                           "--input"})
    given->prediction_options.push_back(app.get_option(name));
  given->image_options.push_back(app.get_option("--scanners"));
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::cli
