// SPDX-License-Identifier: Apache-2.0
#include "segcal/simulate.h"

#include <map>
#include <memory>

#include "core/file.h"
#include "core/json.h"
#include "core/new_folder.h"
#include "core/progress.h"
#include "core/throw.h"
#include "formats/array.h"
#include "segcal/dataset.h"
#include "simulate/plan.h"
#include "simulate/posterior.h"
#include "simulate/predictions.h"
#include "simulate/true_map.h"

namespace segcal {
namespace {

void MakeSubfolders(const std::string& folder, const SimulationPlan& plan) {
  const auto make = [&](const std::string& name) { CreateFolder(folder + "/" + name); };
  for (int64_t m = 0; m < plan.options.num_members; ++m)
    make(fmt::format("{}/m{}", Name(plan.options.input), m));
  make("labels");
  make("truth");
  if (plan.shape().size() == 2) make("images");
}

std::unique_ptr<TrueMap> MakePlannedMap(const SimulationPlan& plan) {
  return MakeTrueMap(plan.options.true_map,
                     {.num_classes = plan.num_classes(),
                      .temperature = plan.options.temperature,
                      .variation = plan.options.variation,
                      .typical_gap = plan.sharpness * plan.preset->model.ClearGap(),
                      .rng = CaseStreams{plan.options.seed, 0}.Of(StreamUse::kTrueMap)});
}

// The data set without its files: names of everything, and the splits.
Dataset DescribeDataset(const SimulationPlan& plan) {
  const bool is_flat = plan.shape().size() == 2;
  Dataset dataset;
  dataset.name = plan.preset->name;
  dataset.classes = ClassNames(*plan.preset, plan.num_classes());
  dataset.input = plan.options.input;
  if (plan.HasVoid()) dataset.ignore_label = kVoidLabel;
  dataset.background = plan.preset->background;
  for (int64_t i = 0; i < plan.options.num_cases; ++i) {
    Case c;
    c.id = fmt::format("{:04}", i);
    for (int64_t m = 0; m < plan.options.num_members; ++m) {
      c.members.push_back(fmt::format("{}/m{}/{}.npy", Name(plan.options.input), m, c.id));
    }
    c.labels = fmt::format("labels/{}{}", c.id, is_flat ? ".png" : ".nii.gz");
    if (is_flat) c.image = fmt::format("images/{}.png", c.id);
    c.spacing = plan.preset->spacing;
    dataset.cases.push_back(std::move(c));
  }
  if (!plan.options.splits.empty()) AssignSplits(&dataset, plan.options.splits, plan.options.seed);
  return dataset;
}

void SaveTruth(const std::string& folder,
               const SimulationPlan& plan,
               const Case& c,
               const CaseTruth& truth) {
  ArrayInfo labels{.dtype = DType::kU8, .shape = plan.shape(), .spacing = plan.preset->spacing};
  SaveArray(folder + "/" + c.labels.path(), labels, truth.labels.data());
  ArrayInfo eta{.dtype = DType::kF32, .shape = plan.shape(), .spacing = {}};
  eta.shape.insert(eta.shape.begin(), plan.num_classes());
  SaveArray(fmt::format("{}/truth/{}.npy", folder, c.id), eta, truth.eta.data());
}

TruthSums MakeCase(const std::string& folder,
                   const SimulationPlan& plan,
                   const TrueMap& map,
                   const Case& c,
                   const CaseStreams& streams) {
  const Scene scene = MakeScene(*plan.preset, plan.shape(), plan.num_classes(), streams);
  if (!c.image.empty()) {
    const ArrayInfo info{
        .dtype = DType::kU8, .shape = {plan.shape()[0], plan.shape()[1], 3}, .spacing = {}};
    SaveArray(
        folder + "/" + c.image.path(), info, MakePicture(*plan.preset, scene, streams).data());
  }
  const std::vector<float> shared = SharedLogits(plan, scene, streams);
  std::vector<double> pooled(shared.size(), 0.0);
  for (int64_t m = 0; m < plan.options.num_members; ++m) {
    const std::vector<float> stored = MemberPrediction(plan, shared, m, streams);
    SavePrediction(folder + "/" + c.members[static_cast<size_t>(m)].path(), plan, stored);
    AddToPool(plan, stored, &pooled);
  }
  const CaseTruth truth = DrawTruth(plan, map, pooled, streams);
  SaveTruth(folder, plan, c, truth);
  return truth.sums;
}

Json SumsToJson(const TruthSums& sums) {
  const auto n = static_cast<double>(sums.num_labelled);
  return {{"voxels", sums.num_voxels},
          {"labelled", sums.num_labelled},
          {"nll_sum", sums.true_nll},
          {"nll", JsonNumber(sums.true_nll / n)},
          {"entropy", JsonNumber(sums.true_entropy / n)},
          {"stored_nll", JsonNumber(sums.stored_nll / n)},
          {"stored_accuracy", JsonNumber(static_cast<double>(sums.num_correct) / n)},
          {"stored_confidence", JsonNumber(sums.stored_confidence / n)}};
}

void SaveTruthFile(const std::string& path,
                   const SimulationPlan& plan,
                   const TrueMap& map,
                   const Dataset& dataset,
                   const std::vector<TruthSums>& sums) {
  const SimulateOptions& options = plan.options;
  Json json = {{"segcal_truth", 1},
               {"preset", options.preset},
               {"seed", options.seed},
               {"members", options.num_members},
               {"offset", options.offset},
               {"member_noise", options.member_noise},
               {"ignore_fraction", options.ignore_fraction},
               {"correlation", options.correlation},
               {"pooling", "z"},
               {"map", {{"kind", options.true_map}, {"parameters", map.Describe()}}}};
  TruthSums total;
  std::map<std::string, TruthSums> by_split;
  Json cases = Json::array();
  for (size_t i = 0; i < sums.size(); ++i) {
    total.Add(sums[i]);
    if (!dataset.cases[i].split.empty()) by_split[dataset.cases[i].split].Add(sums[i]);
    Json entry = {{"id", dataset.cases[i].id},
                  {"posterior", fmt::format("truth/{}.npy", dataset.cases[i].id)}};
    entry.update(SumsToJson(sums[i]));
    cases.push_back(std::move(entry));
  }
  json["total"] = SumsToJson(total);
  json["splits"] = Json::object();
  for (const auto& [name, split_sums] : by_split) json["splits"][name] = SumsToJson(split_sums);
  json["cases"] = std::move(cases);
  WriteText(path, DumpJson(json));
}

SimulateSummary Summarise(const std::vector<TruthSums>& sums) {
  TruthSums total;
  for (const TruthSums& s : sums) total.Add(s);
  const auto n = static_cast<double>(total.num_labelled);
  return {.num_voxels = total.num_voxels,
          .num_labelled = total.num_labelled,
          .true_nll = total.true_nll / n,
          .true_entropy = total.true_entropy / n,
          .stored_nll = total.stored_nll / n,
          .stored_confidence = total.stored_confidence / n,
          .stored_accuracy = static_cast<double>(total.num_correct) / n};
}

}  // namespace

SimulateSummary Simulate(const std::string& folder,
                         const SimulateOptions& options,
                         const ProgressCallback& progress) {
  const ProgressScope scope(progress);
  const SimulationPlan plan = MakePlan(options);
  const std::unique_ptr<TrueMap> map = MakePlannedMap(plan);
  const Dataset dataset = DescribeDataset(plan);
  NewFolder output(folder);
  MakeSubfolders(folder, plan);
  std::vector<TruthSums> sums;
  const auto tell = [&] {
    ReportProgress({.stage = "simulate " + options.preset,
                    .done = static_cast<int64_t>(sums.size()) * plan.num_voxels,
                    .total = options.num_cases * plan.num_voxels});
  };
  tell();
  for (const Case& c : dataset.cases) {
    const CaseStreams streams{options.seed, static_cast<int64_t>(sums.size())};
    sums.push_back(MakeCase(folder, plan, *map, c, streams));
    tell();
  }
  SaveTruthFile(folder + "/truth.json", plan, *map, dataset, sums);
  // Last: a folder with a data set file is complete.
  SaveDataset(folder + "/dataset.json", dataset);
  output.Keep();
  return Summarise(sums);
}

std::vector<std::string> SimulatePresets() {
  std::vector<std::string> names;
  for (const ScenePreset* preset : ScenePresets()) names.emplace_back(preset->name);
  return names;
}

std::vector<std::string> SimulateTrueMaps() {
  std::vector<std::string> names;
  for (const TrueMapInfo& map : TrueMaps()) names.emplace_back(map.name);
  return names;
}

}  // namespace segcal
