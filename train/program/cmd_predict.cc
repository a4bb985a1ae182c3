// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "cli/arguments.h"
#include "cli/interrupt.h"
#include "core/json.h"
#include "core/throw.h"
#include "train/program/commands.h"
#include "train/run/train.h"

namespace segcal::train {
namespace {

struct PredictArguments {
  std::string run;
  std::string dataset;
  std::string folder;
  std::string severity;
  std::string dtype = "float32";
  uint64_t seed = 0;
  PredictOptions options;
  bool quiet = false;
  bool json = false;
};

void Run(const PredictArguments& given) {
  const Dataset dataset = LoadDataset(given.dataset, Contents::kImages);
  PredictOptions options = given.options;
  options.half = given.dtype == "float16";
  if (!given.severity.empty()) {
    options.corrupt.emplace();
    options.corrupt->severity = given.severity == "mild" ? Severity::kMild : Severity::kStrong;
    options.corrupt->seed = given.seed;
  }
  options.progress = cli::Interruptible(given.quiet ? ProgressCallback() : cli::ProgressDisplay());
  cli::AdviseOnInterrupt([folder = given.folder] {
    return folder + " holds nothing of it; the same command starts anew";
  });
  const PredictResult result = Predict(given.run, dataset, given.folder, options);
  options.progress = {};  // clears the bar
  if (given.json) {
    fmt::print("{}",
               DumpJson({{"cases", result.cases},
                         {"members", result.members},
                         {"held_out", result.held_out},
                         {"learned", result.learned}}));
    return;
  }
  fmt::print("{}: logits of {} for {}\n",
             given.folder,
             cli::Counted(result.members, "network"),
             cli::Counted(result.cases, "case"));
  if (result.held_out > 0) {
    fmt::print("{} of folds, each by networks that left it out: split calibration\n",
               cli::Counted(result.held_out, "case"));
  }
  if (result.learned > 0) {
    fmt::print("{} among them that these networks learned from: no data to calibrate on\n",
               cli::Counted(result.learned, "case"));
  }
  fmt::print("next: segcal fit {} -p 'ts(z)' -o model.json\n", given.folder);
}

}  // namespace

cli::Action SetUpPredict(CLI::App& app) {
  auto given = std::make_shared<PredictArguments>();
  PredictOptions& options = given->options;
  app.add_option("run", given->run, "Folder that segcal train wrote")->required();
  app.add_option("dataset", given->dataset, "Data set with images")->required();
  app.add_option("-o,--output", given->folder, "Folder to write, new or empty")->required();
  app.add_option("--split", options.split, "Only the cases of this split (default: all cases)");
  app.add_flag("--folds",
               options.out_of_fold,
               "Of networks trained with --folds: every case by those that have not learned from "
               "it; training cases become split calibration");
  app.add_option("--tile",
                 options.predictor.tile,
                 "Voxels per axis of tiles, which overlap by half (default: whole images)")
      ->check(CLI::Range(1, 1 << 20));
  app.add_flag("--mirror", options.predictor.mirror, "Average over all mirrored views");
  auto* corrupt =
      app.add_option(
             "--corrupt", given->severity, "Corrupt the images first, as segcal corrupt does")
          ->check(CLI::IsMember({"mild", "strong"}));
  cli::AddSeed(app, &given->seed, "Of the corruption")->needs(corrupt);
  app.add_option("--dtype", given->dtype, "Type of the logits")
      ->check(CLI::IsMember({"float16", "float32"}))
      ->capture_default_str();
  app.add_option("--threads", options.threads, "Threads; 0 is all cores")
      ->check(CLI::Range(0, 1024));
  app.add_flag("--json", given->json, "Print the result as JSON");
  app.add_flag("--quiet", given->quiet, "No progress display");
  app.footer(
      "Writes OUT/dataset.json, which every other command of segcal reads, and OUT/logits/.\n\n"
      "Examples:\n  segcal predict networks photos -o predictions\n"
      "  segcal predict networks photos --folds -o predictions\n"
      "  segcal predict networks photos --split test --corrupt strong -o strong");
  return [given] {
    Run(*given);
    return 0;
  };
}

}  // namespace segcal::train
