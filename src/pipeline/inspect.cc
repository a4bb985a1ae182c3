// SPDX-License-Identifier: Apache-2.0
#include "segcal/inspect.h"

#include <atomic>
#include <cmath>

#include "core/throw.h"
#include "data/repeats.h"
#include "kernels/softmax.h"
#include "metrics/metric.h"
#include "pipeline/run.h"

namespace segcal {
namespace {

std::unique_ptr<MetricAccumulator> FreeEnergySums(int64_t num_classes) {
  for (const MetricInfo* info : Metrics()) {
    if (std::string(info->name) == "free_energy") {
      return info->make({.num_classes = num_classes, .background = -1}, {});
    }
  }
  Throw(ErrorCode::kInvalidArgument, "the free_energy metric is missing from the list");
}

// Sums of one case in one worker.
struct CaseSums {
  explicit CaseSums(int64_t num_classes)
      : label_counts(static_cast<size_t>(num_classes)),
        decision_counts(static_cast<size_t>(num_classes)),
        free_energy(FreeEnergySums(num_classes)) {}

  void Merge(const CaseSums& other) {
    for (size_t c = 0; c < label_counts.size(); ++c) {
      label_counts[c] += other.label_counts[c];
      decision_counts[c] += other.decision_counts[c];
    }
    correct += other.correct;
    repeated += other.repeated;
    free_energy->Merge(*other.free_energy);
    // The earliest voxel, so that the example does not depend on threads.
    if (other.example_voxel >= 0 && (example_voxel < 0 || other.example_voxel < example_voxel)) {
      example_voxel = other.example_voxel;
      example = other.example;
    }
  }

  std::vector<int64_t> label_counts;
  std::vector<int64_t> decision_counts;
  int64_t correct = 0;
  int64_t repeated = 0;
  int64_t example_voxel = -1;
  std::vector<double> example;
  std::unique_ptr<MetricAccumulator> free_energy;
};

void AddRepeats(const Tile& tile, CaseSums* sums) {
  const Repeats repeats = FindRepeats(tile);
  sums->repeated += repeats.voxels;
  if (repeats.example < 0 || sums->example_voxel >= 0) return;
  sums->example_voxel = tile.first_voxel + repeats.example;
  for (int64_t c = 0; c < tile.num_classes; ++c) {
    sums->example.push_back(static_cast<double>(tile.logits[c * kTileVoxels + repeats.example]) +
                            tile.offset[repeats.example]);
  }
}

// The free energy is a fact about the prediction: every voxel counts, labelled or not, but for the
// mask.
void AddFreeEnergy(const Tile& tile, CaseSums* sums) {
  alignas(64) double free_energy[kTileVoxels];
  alignas(64) int32_t present[kTileVoxels];
  FreeEnergyTile(tile, free_energy);
  for (int64_t v = 0; v < kTileVoxels; ++v)
    present[v] = v < tile.count && !tile.Masked(v) ? 0 : kNoLabel;
  EvalTile eval;
  eval.num_classes = tile.num_classes;
  eval.labels = present;
  eval.free_energy = free_energy;
  sums->free_energy->Add(eval);
}

void AddTile(const Tile& tile, CaseSums* sums) {
  for (int64_t v = 0; v < tile.count; ++v) {
    if (tile.Masked(v)) continue;
    ++sums->decision_counts[tile.decision[v]];
    if (tile.labels[v] == kNoLabel) continue;
    ++sums->label_counts[static_cast<size_t>(tile.labels[v])];
    sums->correct += tile.labels[v] == tile.decision[v] ? 1 : 0;
  }
  AddFreeEnergy(tile, sums);
  AddRepeats(tile, sums);
}

CaseSummary SummaryOf(const Case& entry, const CaseReader& reader, const CaseSums& sums) {
  CaseSummary summary;
  summary.id = entry.id;
  summary.split = entry.split;
  summary.shape = reader.shape();
  summary.dtype = NameOf(reader.member(0)->info().dtype);
  for (const int64_t count : sums.label_counts) summary.labelled += count;
  summary.accuracy = summary.labelled == 0 ? std::nan("")
                                           : static_cast<double>(sums.correct) /
                                                 static_cast<double>(summary.labelled);
  for (const MetricValue& value : sums.free_energy->Finish()) {
    if (value.name == "free_energy_mean") summary.free_energy_mean = value.value;
    if (value.name == "free_energy_std") summary.free_energy_std = value.value;
  }
  return summary;
}

}  // namespace

DatasetSummary Inspect(const Dataset& dataset, const RunOptions& options) {
  const Pooling pooling;
  DatasetSummary summary;
  const Dataset cases = ReadableCases(dataset, {pooling}, options, &summary.skipped);
  const CaseStream stream(cases, {pooling}, StreamOptionsOf(options));
  const int64_t num_classes = dataset.num_classes();
  const auto workers = static_cast<size_t>(stream.num_workers());
  std::vector<std::vector<std::unique_ptr<CaseSums>>> sums(static_cast<size_t>(stream.num_cases()));
  for (auto& per_worker : sums) per_worker.resize(workers);
  std::vector<TileBuffer> buffers(workers);
  std::atomic<int64_t> renormalised{0};
  summary.cases.resize(sums.size());
  std::vector<CaseSums> totals;
  for (size_t c = 0; c < sums.size(); ++c) totals.emplace_back(num_classes);

  stream.ForEachBlock(
      "inspect",
      [&](VoxelBlock& block, int64_t c, int worker) {
        const auto w = static_cast<size_t>(worker);
        auto& mine = sums[static_cast<size_t>(c)][w];
        if (!mine) mine = std::make_unique<CaseSums>(num_classes);
        for (int64_t t = 0; t < block.num_tiles(); ++t)
          AddTile(block.PoolTileInto(t, pooling, &buffers[w]), mine.get());
        mine->free_energy->Flush();
        renormalised += block.TakeRenormalised();
      },
      [&](int64_t c, const CaseReader& reader) {
        const auto i = static_cast<size_t>(c);
        for (const auto& part : sums[i]) {
          if (part) totals[i].Merge(*part);
        }
        sums[i].clear();
        summary.cases[i] = SummaryOf(cases.cases[i], reader, totals[i]);
      });

  CaseSums total(num_classes);
  for (const CaseSums& part : totals) {
    if (summary.repeated_example.empty()) summary.repeated_example = part.example;
    total.Merge(part);
  }
  summary.label_counts = total.label_counts;
  summary.decision_counts = total.decision_counts;
  for (const int64_t count : total.label_counts) summary.labelled += count;
  for (const int64_t count : total.decision_counts) summary.voxels += count;
  summary.repeated = total.repeated;
  summary.renormalised = renormalised;
  return summary;
}

}  // namespace segcal
