// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "core/json.h"
#include "core/new_folder.h"
#include "core/parallel.h"
#include "core/progress.h"
#include "core/throw.h"
#include "formats/array.h"
#include "segcal/dataset.h"
#include "segcal/files.h"
#include "segcal/simulate.h"
#include "simulate/plan.h"
#include "simulate/posterior.h"
#include "simulate/scanner.h"

namespace segcal {
namespace {

constexpr int64_t kMaxScanners = 100;
constexpr const char* kShiftSplit = "shift";

SimulationPlan MakeImagesPlan(const SimulateImagesOptions& options) {
  if (options.num_scanners < 1 || options.num_scanners > kMaxScanners) {
    Throw(ErrorCode::kInvalidArgument,
          "scanners {}: 1 to {} is required",
          options.num_scanners,
          kMaxScanners);
  }
  SimulateOptions scenes;
  scenes.preset = options.preset;
  scenes.num_cases = options.num_cases;
  scenes.num_classes = options.num_classes;
  scenes.size = options.size;
  scenes.seed = options.seed;
  scenes.ignore_fraction = options.ignore_fraction;
  scenes.threads = options.threads;
  scenes.splits = options.splits;
  if (options.num_scanners == 1)
    std::erase_if(scenes.splits, [](const auto& split) { return split.first == kShiftSplit; });
  return MakePlan(scenes);
}

Dataset DescribeImages(const SimulationPlan& plan) {
  const char* extension = plan.shape().size() == 2 ? ".png" : ".nii.gz";
  Dataset dataset;
  dataset.name = plan.preset->name;
  dataset.classes = ClassNames(*plan.preset, plan.num_classes());
  if (plan.HasVoid()) dataset.ignore_label = kVoidLabel;
  dataset.background = plan.preset->background;
  for (int64_t i = 0; i < plan.options.num_cases; ++i) {
    Case entry;
    entry.id = fmt::format("{:04}", i);
    entry.image = fmt::format("images/{}{}", entry.id, extension);
    entry.labels = fmt::format("labels/{}{}", entry.id, extension);
    entry.spacing = plan.preset->spacing;
    dataset.cases.push_back(std::move(entry));
  }
  if (!plan.options.splits.empty()) AssignSplits(&dataset, plan.options.splits, plan.options.seed);
  return dataset;
}

// Which scanner takes the image of every case.
std::vector<int64_t> ChooseScanners(const Dataset& dataset, int64_t num_scanners) {
  std::vector<int64_t> scanners;
  int64_t shifted = 0;
  for (const Case& entry : dataset.cases)
    scanners.push_back(entry.split == kShiftSplit ? 1 + shifted++ % (num_scanners - 1) : 0);
  return scanners;
}

// The number of labelled voxels.
int64_t MakeImageCase(const std::string& folder,
                      const SimulationPlan& plan,
                      const Case& entry,
                      const Scanner& scanner,
                      const CaseStreams& streams) {
  Scene scene = MakeScene(*plan.preset, plan.shape(), plan.num_classes(), streams);
  ArrayInfo info{.dtype = DType::kU8, .shape = plan.shape(), .spacing = plan.preset->spacing};
  const std::vector<uint8_t> image = TakeImage(*plan.preset, scene, scanner, streams);
  const std::vector<bool> is_void = VoidVoxels(plan, streams);
  int64_t labelled = 0;
  for (size_t v = 0; v < scene.regions.size(); ++v) {
    if (is_void[v]) scene.regions[v] = kVoidLabel;
    labelled += is_void[v] ? 0 : 1;
  }
  SaveArray(folder + "/" + entry.labels.path(), info, scene.regions.data());
  if (plan.shape().size() == 2) info.shape.push_back(3);
  SaveArray(folder + "/" + entry.image.path(), info, image.data());
  return labelled;
}

void SaveScanners(const std::string& path,
                  const SimulationPlan& plan,
                  const Dataset& dataset,
                  const std::vector<int64_t>& scanner_of_case,
                  int64_t num_scanners) {
  Json scanners = Json::array();
  for (int64_t i = 0; i < num_scanners; ++i) {
    const Scanner scanner = MakeScanner(plan.options.seed, i);
    scanners.push_back({{"gain", scanner.gain},
                        {"gamma", scanner.gamma},
                        {"noise", scanner.noise},
                        {"blur", scanner.blur},
                        {"bias", scanner.bias}});
  }
  Json cases = Json::array();
  for (size_t i = 0; i < scanner_of_case.size(); ++i)
    cases.push_back({{"id", dataset.cases[i].id}, {"scanner", scanner_of_case[i]}});
  WriteText(path,
            DumpJson({{"segcal_scanners", 1},
                      {"preset", plan.options.preset},
                      {"seed", plan.options.seed},
                      {"scanners", std::move(scanners)},
                      {"cases", std::move(cases)}}));
}

}  // namespace

SimulateImagesSummary SimulateImages(const std::string& folder,
                                     const SimulateImagesOptions& options,
                                     const ProgressCallback& progress) {
  const ProgressScope scope(progress);
  const SimulationPlan plan = MakeImagesPlan(options);
  const Dataset dataset = DescribeImages(plan);
  const std::vector<int64_t> scanners = ChooseScanners(dataset, options.num_scanners);
  NewFolder output(folder);
  for (const char* name : {"images", "labels"}) CreateFolder(folder + "/" + name);
  std::atomic<int64_t> done = 0;
  std::atomic<int64_t> labelled = 0;
  const auto tell = [&] {
    ReportProgress({.stage = "simulate images of " + options.preset,
                    .done = done * plan.num_voxels,
                    .total = options.num_cases * plan.num_voxels});
  };
  tell();
  ParallelFor(options.num_cases, options.threads, [&](int64_t i, int) {
    const auto at = static_cast<size_t>(i);
    labelled += MakeImageCase(folder,
                              plan,
                              dataset.cases[at],
                              MakeScanner(options.seed, scanners[at]),
                              {options.seed, i});
    ++done;
    tell();
  });
  SaveScanners(folder + "/scanners.json", plan, dataset, scanners, options.num_scanners);
  // Last: a folder with a data set file is complete.
  SaveDataset(folder + "/dataset.json", dataset, Contents::kImages);
  output.Keep();
  return {.num_images = options.num_cases,
          .num_voxels = options.num_cases * plan.num_voxels,
          .num_labelled = labelled};
}

std::string ToJson(const SimulateImagesSummary& summary) {
  return DumpJson({{"images", summary.num_images},
                   {"voxels", summary.num_voxels},
                   {"labelled", summary.num_labelled}});
}

}  // namespace segcal
