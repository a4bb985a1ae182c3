// SPDX-License-Identifier: Apache-2.0
#include "train/run/train.h"

#include <ATen/Parallel.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "core/file.h"
#include "core/json.h"
#include "core/parallel.h"
#include "core/progress.h"
#include "core/throw.h"
#include "page/line_chart.h"
#include "report/colors.h"

namespace segcal::train {
namespace {

namespace fs = std::filesystem;

int64_t MachineMemory() {
  return static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<int64_t>(::sysconf(_SC_PAGESIZE));
}

void CheckMemory(const TrainSettings& settings, int64_t memory) {
  const UNet net(settings.network);
  const auto limit = static_cast<double>(memory > 0 ? memory : MachineMemory());
  // Weights, their gradient, two vectors of Adam and one in passing.
  const double fixed = 5.0 * sizeof(float) * static_cast<double>(net.num_weights());
  const double each = net.BytesPerVoxel() * static_cast<double>(NumVoxels(settings.patch));
  const double needed = fixed + each * static_cast<double>(settings.batch);
  if (needed <= limit) return;
  const double fits = std::floor((limit - fixed) / each);
  const double mib = 1.0 / (1 << 20);
  Throw(ErrorCode::kInvalidArgument,
        "a batch of {} patches of {} voxels takes about {:.0f} MiB, {:.0f} MiB may be used: {}",
        settings.batch,
        NumVoxels(settings.patch),
        needed * mib,
        limit * mib,
        fits >= 1.0 ? fmt::format("a batch of {:.0f} fits", fits)
                    : std::string("not one patch fits, take smaller ones or a narrower network"));
}

// The first field in which two descriptions differ.
std::string FindDifference(const Json& before, const Json& now) {
  for (const auto& [key, value] : now.items()) {
    if (!before.contains(key) || before.at(key) != value) {
      return fmt::format("{} is {} there and {} now",
                         key,
                         before.contains(key) ? before.at(key).dump() : "missing",
                         value.dump());
    }
  }
  return {};
}

// A new folder, or one whose training is this one.
void PrepareFolder(const std::string& folder, const Json& description, bool resume) {
  const std::string file = RunFile(folder);
  if (resume && IsFile(file)) {
    const std::string difference = FindDifference(ReadJson(file), description);
    if (difference.empty()) return;
    Throw(ErrorCode::kInvalidArgument,
          "{}: another training: {}; only the same one can go on",
          file,
          difference);
  }
  std::error_code ignored;
  if (fs::exists(folder, ignored) && !fs::is_empty(folder, ignored)) {
    Throw(ErrorCode::kIo,
          "{}: not empty; {}",
          folder,
          IsFile(file) ? "option resume goes on with the training in it"
                       : "a new or empty folder is required");
  }
  CreateFolder(folder);
  WriteText(file, DumpJson(description));
}

ChartLine MakeLine(const NetworkResult& network,
                   const std::string& name,
                   int64_t color,
                   double EpochResult::*value) {
  ChartLine line{.name = name, .color = ClassColor(color), .marked = false};
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (size_t e = 0; e < network.history.size(); ++e) {
    line.points.push_back({.x = static_cast<double>(e + 1),
                           .y = network.history[e].*value,
                           .lower = none,
                           .upper = none});
  }
  return line;
}

// Loss and validation NLL in one chart, validation Dice in another.
void DrawCurves(const std::string& folder, const TrainResult& result) {
  LineChart loss{.title = "Loss by epoch", .x_name = "epoch", .y_name = "loss, validation NLL"};
  LineChart dice{.title = "Dice by epoch", .x_name = "epoch", .y_name = "validation Dice"};
  int64_t color = 0;
  for (const NetworkResult& network : result.networks) {
    const std::string name = Name(network.key);
    loss.lines.push_back(MakeLine(network, name + " loss", color, &EpochResult::loss));
    loss.lines.push_back(MakeLine(network, name + " validation NLL", color + 1, &EpochResult::nll));
    dice.lines.push_back(MakeLine(network, name, color, &EpochResult::dice));
    color += 2;
  }
  WriteText(folder + "/loss.svg", LineChartSvg(loss));
  WriteText(folder + "/dice.svg", LineChartSvg(dice));
}

}  // namespace

TrainResult Train(const Dataset& dataset, const std::string& folder, const TrainOptions& options) {
  const ProgressScope scope(options.progress);
  TrainSettings settings = options.settings;
  MakeLoss(settings.loss, settings.loss_options);  // a wrong one shows before images are read
  at::set_num_threads(options.threads > 0 ? options.threads : AvailableThreads());
  const TrainData data = ReadTrainData(dataset, &settings);
  CheckMemory(settings, options.memory);
  PrepareFolder(folder, DescribeRun(settings, data), options.resume);
  TrainResult result;
  result.num_weights = UNet(settings.network).num_weights();
  for (const NetworkKey& key : ListNetworks(settings.members, settings.folds)) {
    MemberTraining training(settings, data, folder, key);
    CreateFolder(NetworkFolder(folder, key));
    if (IsFile(LastFile(folder, key))) training.Resume();
    training.Run();
    result.networks.push_back(
        {.key = key, .history = training.history(), .best_epoch = training.best_epoch()});
    DrawCurves(folder, result);
  }
  return result;
}

}  // namespace segcal::train
