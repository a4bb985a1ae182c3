// SPDX-License-Identifier: Apache-2.0
#include "segcal/inspect.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "calibrators/list.h"
#include "core/progress.h"
#include "core/throw.h"
#include "data/reduce.h"
#include "data/repeats.h"
#include "kernels/softmax.h"
#include "metrics/metric.h"
#include "pipeline/case_facts.h"
#include "pipeline/compatible.h"
#include "pipeline/inspect.h"
#include "pipeline/model.h"
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

using Accumulator = std::unique_ptr<MetricAccumulator>;

std::vector<Accumulator> FreeEnergyBySize(int64_t num_classes, int64_t num_members) {
  std::vector<Accumulator> by_size;
  for (int64_t m = 0; m < num_members; ++m) by_size.push_back(FreeEnergySums(num_classes));
  return by_size;
}

// The earliest voxel of a case that repeats others, so that it does not depend on threads.
struct RepeatExample {
  int64_t voxel = -1;
  std::vector<double> logits;

  void Merge(const RepeatExample& other) {
    if (other.voxel >= 0 && (voxel < 0 || other.voxel < voxel)) *this = other;
  }
  void Pack(SumWriter* out) const {
    out->Put(voxel);
    out->Put(static_cast<int64_t>(logits.size()));
    for (const double logit : logits) out->Put(logit);
  }
  void Unpack(SumReader* in) {
    voxel = in->Take<int64_t>();
    logits.resize(static_cast<size_t>(in->TakeCount()));
    for (double& logit : logits) logit = in->Take<double>();
  }
};

// Sums of one case.
struct CaseSums {
  CaseSums(int64_t num_classes, int64_t num_members)
      : label_counts(static_cast<size_t>(num_classes)),
        decision_counts(static_cast<size_t>(num_classes)),
        free_energy(FreeEnergyBySize(num_classes, num_members)) {}

  void Flush() {
    for (const Accumulator& part : free_energy) part->Flush();
  }
  static constexpr auto SumFields() {
    using S = CaseSums;
    return std::tuple(&S::label_counts,
                      &S::decision_counts,
                      &S::correct,
                      &S::repeated,
                      &S::renormalised,
                      &S::example,
                      &S::facts,
                      &S::free_energy);
  }

  std::vector<int64_t> label_counts;
  std::vector<int64_t> decision_counts;
  int64_t correct = 0;
  int64_t repeated = 0;
  int64_t renormalised = 0;
  RepeatExample example;
  CaseFacts facts;
  std::vector<Accumulator> free_energy;  // of the first 1, 2, ... members
};

void AddRepeats(const Tile& tile, CaseSums* sums) {
  const Repeats repeats = FindRepeats(tile);
  sums->repeated += repeats.voxels;
  RepeatExample& first = sums->example;
  // A worker sees the blocks of a case in order.
  if (repeats.example < 0 || first.voxel >= 0) return;
  first.voxel = tile.first_voxel + repeats.example;
  for (int64_t c = 0; c < tile.num_classes; ++c) {
    first.logits.push_back(static_cast<double>(tile.logits[c * kTileVoxels + repeats.example]) +
                           tile.offset[repeats.example]);
  }
}

// The free energy is a fact about the prediction: every voxel counts, labelled or not, but for the
// mask.
void AddFreeEnergy(const Tile& tile, MetricAccumulator* sums) {
  alignas(64) double free_energy[kTileVoxels];
  alignas(64) int32_t present[kTileVoxels];
  FreeEnergyTile(tile, free_energy);
  for (int64_t v = 0; v < kTileVoxels; ++v)
    present[v] = v < tile.count && !tile.Masked(v) ? 0 : kNoLabel;
  EvalTile eval;
  eval.num_classes = tile.num_classes;
  eval.labels = present;
  eval.free_energy = free_energy;
  sums->Add(eval);
}

void AddCounts(const Tile& tile, CaseSums* sums) {
  for (int64_t v = 0; v < tile.count; ++v) {
    if (tile.Masked(v)) continue;
    ++sums->decision_counts[tile.decision[v]];
    if (tile.labels[v] == kNoLabel) continue;
    ++sums->label_counts[static_cast<size_t>(tile.labels[v])];
    ++sums->facts.labelled;
    sums->correct += tile.labels[v] == tile.decision[v] ? 1 : 0;
  }
}

void AddBlock(VoxelBlock* block, TileBuffer* buffer, CaseSums* sums) {
  for (int64_t t = 0; t < block->num_tiles(); ++t) {
    const Tile whole = block->PoolTileInto(t, Pooling{}, buffer);
    sums->renormalised += block->TakeRenormalised();
    AddCounts(whole, sums);
    AddRepeats(whole, sums);
    AddFreeEnergy(whole, sums->free_energy.back().get());
    for (size_t m = 0; m + 1 < sums->free_energy.size(); ++m) {
      const Pooling first{.leading = static_cast<int64_t>(m) + 1};
      AddFreeEnergy(block->PoolTileInto(t, first, buffer), sums->free_energy[m].get());
    }
    block->TakeRenormalised();  // the same rows again
  }
  AddCaseFacts(*block, &sums->facts);
  FlushSums(sums);
}

double FindNumber(const MetricAccumulator& sums, const std::string& name) {
  for (const MetricValue& value : sums.Finish()) {
    if (value.name == name) return value.value;
  }
  return std::nan("");
}

CaseSummary Summarise(const Case& entry, const CaseReader& reader, const CaseSums& sums) {
  CaseSummary summary;
  summary.id = entry.id;
  summary.split = entry.split;
  summary.shape = reader.shape();
  summary.dtype = Name(reader.member(0)->info().dtype);
  for (const int64_t count : sums.label_counts) summary.labelled += count;
  summary.accuracy = summary.labelled == 0 ? std::nan("")
                                           : static_cast<double>(sums.correct) /
                                                 static_cast<double>(summary.labelled);
  for (const Accumulator& size : sums.free_energy)
    summary.free_energy_std_by_size.push_back(FindNumber(*size, "free_energy_std"));
  summary.free_energy_std = summary.free_energy_std_by_size.back();
  summary.free_energy_mean = FindNumber(*sums.free_energy.back(), "free_energy_mean");
  return summary;
}

// Linear interpolation between order statistics (F5), as NumPy's default; values sorted, not empty.
double Quantile(const std::vector<double>& values, double q) {
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<size_t>(std::floor(at));
  const size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - std::floor(at)) * (values[high] - values[low]);
}

FreeEnergySpread SummariseSpread(const std::vector<CaseSummary>& cases, size_t m) {
  std::vector<double> values;
  for (const CaseSummary& c : cases) {
    if (std::isfinite(c.free_energy_std_by_size[m])) values.push_back(c.free_energy_std_by_size[m]);
  }
  std::sort(values.begin(), values.end());
  FreeEnergySpread spread;
  spread.members = static_cast<int64_t>(m) + 1;
  spread.cases = static_cast<int64_t>(values.size());
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) /
                static_cast<double>(values.size());  // 0/0 = NaN
  for (size_t k = 0; k < 3; ++k)
    spread.quartiles[k] =
        values.empty() ? std::nan("") : Quantile(values, 0.25 * static_cast<double>(k + 1));
  return spread;
}

void AddTotals(const InspectedCase& part, DatasetSummary* summary) {
  if (summary->repeated_example.empty()) summary->repeated_example = part.repeated_example;
  summary->repeated += part.repeated;
  summary->renormalised += part.renormalised;
  for (size_t c = 0; c < part.label_counts.size(); ++c) {
    summary->label_counts[c] += part.label_counts[c];
    summary->decision_counts[c] += part.decision_counts[c];
    summary->labelled += part.label_counts[c];
    summary->voxels += part.decision_counts[c];
  }
}

InspectedCase Inspected(const Case& entry, const CaseReader& reader, CaseSums total) {
  return {.summary = Summarise(entry, reader, total),
          .has_labels = !entry.labels.empty(),
          .constant = ConstantMembers(total.facts),
          .label_counts = std::move(total.label_counts),
          .decision_counts = std::move(total.decision_counts),
          .repeated = total.repeated,
          .repeated_example = std::move(total.example.logits),
          .renormalised = total.renormalised};
}

std::vector<InspectedCase> ReadCases(const CaseStream& stream) {
  const std::vector<Case>& cases = stream.dataset().cases;
  const int64_t num_classes = stream.dataset().num_classes();
  const int64_t num_members = std::ssize(cases.front().members);
  std::vector<WorkerSums<CaseSums>> sums;
  for (size_t c = 0; c < cases.size(); ++c)
    sums.emplace_back(stream.num_workers(), [=] { return CaseSums(num_classes, num_members); });
  std::vector<TileBuffer> buffers(static_cast<size_t>(stream.num_workers()));
  std::vector<InspectedCase> inspected(cases.size());
  stream.ForEachBlock(
      "inspect",
      [&](VoxelBlock& block, int64_t c, int worker) {
        AddBlock(&block,
                 &buffers[static_cast<size_t>(worker)],
                 &sums[static_cast<size_t>(c)].At(worker));
      },
      [&](int64_t c, const CaseReader& reader) {
        const auto i = static_cast<size_t>(c);
        inspected[i] = Inspected(cases[i], reader, sums[i].TakeTotal());
      });
  return inspected;
}

std::vector<std::string> OddCases(const std::vector<InspectedCase>& cases) {
  std::vector<NamedFacts> facts;
  for (const InspectedCase& c : cases)
    facts.push_back({c.summary.id, c.summary.labelled, c.constant, c.has_labels});
  return CaseWarnings(facts);
}

}  // namespace

InspectPlan PlanInspection(const Dataset& dataset) {
  CheckDataset(dataset, DatasetTitle(dataset));
  return {.name = dataset.name,
          .classes = dataset.classes,
          .input = *dataset.input,
          .members = dataset.cases.empty() ? 0 : std::ssize(dataset.cases.front().members)};
}

InspectedCases InspectCases(const Dataset& cases, const RunOptions& run) {
  InspectedCases done;
  const Dataset good = GoodCases(cases, {Pooling{}}, run, &done.skipped);
  if (!good.cases.empty())
    done.cases = ReadCases(CaseStream(good, {Pooling{}}, MakeStreamOptions(run)));
  return done;
}

DatasetSummary FinishInspection(const InspectPlan& plan, InspectedCases done) {
  if (done.cases.empty()) RefuseNoCases(plan.name, done.skipped);
  DatasetSummary summary;
  summary.name = plan.name;
  summary.classes = plan.classes;
  summary.input = plan.input;
  summary.methods = Methods(std::ssize(plan.classes), plan.input);
  summary.label_counts.resize(plan.classes.size());
  summary.decision_counts.resize(plan.classes.size());
  for (const InspectedCase& c : done.cases) AddTotals(c, &summary);
  summary.warnings = OddCases(done.cases);
  for (InspectedCase& c : done.cases) summary.cases.push_back(std::move(c.summary));
  for (size_t m = 0; m < static_cast<size_t>(plan.members); ++m)
    summary.free_energy.push_back(SummariseSpread(summary.cases, m));
  summary.skipped = std::move(done.skipped);
  return summary;
}

DatasetSummary Inspect(const Dataset& dataset, const RunOptions& options) {
  const ProgressScope scope(options.progress);
  const InspectPlan plan = PlanInspection(dataset);  // checks the data set, so it comes first
  return FinishInspection(plan, InspectCases(dataset, options));
}

std::vector<MethodSummary> Methods(int64_t num_classes, InputKind input) {
  std::vector<MethodSummary> methods;
  for (const CalibratorInfo* info : Calibrators()) {
    std::vector<std::string> stages = {info->name};
    if (info->composes) stages.emplace_back("ts");  // the simplest base
    const auto calibrator = MakeCalibrator(stages, {});
    const Properties properties = PipelineProperties(*calibrator, {}, input);
    const ParameterCounts counts = calibrator->counts(num_classes);
    methods.push_back({.name = fmt::format("{}", fmt::join(stages, "+")),
                       .translation_invariant = properties.translation_invariant,
                       .preserves = properties.preserves,
                       .optimised = counts.optimised,
                       .identifiable = counts.identifiable});
  }
  return methods;
}

}  // namespace segcal
