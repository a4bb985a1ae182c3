// SPDX-License-Identifier: Apache-2.0
#include "segcal/evaluate.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>

#include "core/progress.h"
#include "core/throw.h"
#include "data/case_distance.h"
#include "data/reduce.h"
#include "kernels/scores.h"
#include "kernels/softmax.h"
#include "pipeline/accumulators.h"
#include "pipeline/aggregate.h"
#include "pipeline/case_facts.h"
#include "pipeline/compatible.h"
#include "pipeline/emit.h"
#include "pipeline/evaluate.h"
#include "pipeline/model.h"
#include "pipeline/run.h"

namespace segcal {
namespace {

// The sums of every model.
struct ModelSums {
  std::vector<Accumulators> of;

  void Flush() {
    for (Accumulators& sums : of) sums.Flush();
  }
  // Frees as it goes: what keeps every voxel is not held twice.
  void Merge(ModelSums&& other) {
    for (size_t m = 0; m < of.size(); ++m) {
      of[m].Merge(other.of[m]);
      other.of[m].Clear();
    }
  }
  void Pack(SumWriter* out) const { PackSums(of, out); }
  void Unpack(SumReader* in) { UnpackSums(in, &of); }
};

// Everything about one case while its blocks are coming in.
struct CaseState {
  PolledOnce made;
  MetricContext context;
  std::vector<std::unique_ptr<BoundCalibrator>> bound;  // per model
  CaseDistances distances;  // from the label boundary, as metrics need them
  std::mutex facts_mutex;
  std::vector<CaseFacts> facts;  // per pooling
  std::optional<WorkerSums<ModelSums>> sums;
};

// Where the values of a tile start; null if there are none.
template <class T>
const T* From(const std::vector<T>& values, int64_t first_voxel) {
  return values.empty() ? nullptr : values.data() + first_voxel;
}

// What metrics that need every voxel of a case keep of each until the case is complete.
int64_t KeptPerVoxel(const MetricSelection& selection, int64_t num_classes, size_t num_models) {
  // A voxel's part of a sorted list of confidences (measures/ranked.h) and of what makes it, for
  // one pipeline while a case is completed.
  constexpr int64_t kRankBytes = 72;
  int64_t bytes = BytesPerVoxel(selection, num_classes) * static_cast<int64_t>(num_models);
  if (bytes > 0) bytes += kRankBytes;
  if (NeedsDistance(selection)) bytes += sizeof(int32_t);
  if (NeedsLengths(selection)) bytes += sizeof(double);
  return bytes;
}

// Models that share a pooling share the pooled tile.
struct PooledModels {
  Pooling pooling;
  std::vector<size_t> models;
  bool fitted = false;  // whether some know the cases they were fitted on
};

// The hashes of cases that a model was fitted on or chosen by. Where nothing was fitted, no case
// made it look better.
std::vector<uint64_t> KnownCases(const Model& model) {
  if (model.parameter_counts().optimised == 0) return {};
  return model.report().data.case_hashes;
}

std::vector<PooledModels> GroupByPooling(const std::vector<Model>& models) {
  std::vector<PooledModels> groups;
  for (size_t m = 0; m < models.size(); ++m) {
    const Pooling& pooling = ModelAccess::State(models[m]).spec.pooling;
    auto group = std::find_if(
        groups.begin(), groups.end(), [&](const PooledModels& g) { return g.pooling == pooling; });
    if (group == groups.end()) group = groups.insert(group, {.pooling = pooling, .models = {}});
    group->models.push_back(m);
    group->fitted = group->fitted || !KnownCases(models[m]).empty();
  }
  return groups;
}

class Evaluation {
 public:
  Evaluation(const CaseStream& stream,
             const std::vector<Model>& models,
             const EvaluateOptions& options,
             MetricSelection selection)
      : stream_(stream),
        models_(models),
        options_(options),
        selection_(std::move(selection)),
        poolings_(GroupByPooling(models)),
        needs_free_energy_(NeedsFreeEnergy(selection_)),
        context_{.num_classes = stream.dataset().num_classes(),
                 .background = stream.dataset().background.value_or(-1)},
        cases_(static_cast<size_t>(stream.num_cases())),
        workspaces_(static_cast<size_t>(stream.num_workers())),
        groups_(stream.dataset(), models.size(), context_, selection_) {
    for (size_t m = 0; m < models.size(); ++m) pooled_.emplace_back(context_, selection_);
    result_.pipelines.resize(models.size());
    for (size_t m = 0; m < models.size(); ++m) {
      result_.pipelines[m].pipeline = models[m].pipeline();
      result_.pipelines[m].properties = ModelAccess::State(models[m]).properties();
      result_.pipelines[m].cases.resize(cases_.size());
    }
  }

  // `sums` (null: nobody wants them) become the bytes of each model's sums.
  EvaluateResult Run(std::vector<std::string>* sums) {
    stream_.ForEachBlock(
        "evaluate",
        [&](VoxelBlock& block, int64_t c, int worker) {
          AddBlock(block, &OpenCase(c, block.reader()), worker);
        },
        [&](int64_t c, const CaseReader& reader) { FinishCase(c, reader); });
    for (size_t m = 0; sums != nullptr && m < models_.size(); ++m)
      sums->push_back(PackedSums(pooled_[m]));
    for (size_t m = 0; m < models_.size(); ++m) FinishPipeline(m);
    result_.dataset = stream_.dataset().name;
    result_.classes = stream_.dataset().classes;
    result_.voxels = voxels_;
    result_.labelled = labelled_;
    result_.renormalised = renormalised_;
    if (KeptBytes() > stream_.memory()) result_.warnings.push_back(MemoryWarning());
    for (std::string& warning : DataWarnings()) result_.warnings.push_back(std::move(warning));
    return std::move(result_);
  }

 private:
  struct Workspace {
    TileBuffer tile;
    EmitBuffer emit;
    alignas(64) double free_energy[kTileVoxels];
    alignas(64) float confidence[kTileVoxels];
    alignas(64) uint16_t predicted[kTileVoxels];
  };

  CaseState& OpenCase(int64_t c, const CaseReader& reader) {
    CaseState& state = cases_[static_cast<size_t>(c)];
    state.made.Call([&] {
      state.bound.clear();  // what an attempt that failed has left
      for (const Model& model : models_) {
        const ModelState& fitted = ModelAccess::State(model);
        state.bound.push_back(
            fitted.calibrator->Bind(reader, fitted.spec.pooling, MakeBindOptions(stream_)));
      }
      if (NeedsDistance(selection_))
        state.distances = SquaredCaseDistances(reader, NeedsLengths(selection_));
      state.context = context_;
      state.context.grid = MakeGrid(reader.shape(), reader.spacing());
      state.sums.emplace(stream_.num_workers(),
                         [this, &state] { return EmptySums(state.context); });
    });
    return state;
  }

  ModelSums EmptySums(const MetricContext& context) const {
    ModelSums sums;
    for (size_t m = 0; m < models_.size(); ++m) sums.of.emplace_back(context, selection_);
    return sums;
  }

  void AddBlock(VoxelBlock& block, CaseState* state, int worker) {
    ModelSums& sums = state->sums->At(worker);
    Workspace& work = workspaces_[static_cast<size_t>(worker)];
    std::vector<CaseFacts> facts(poolings_.size());
    for (int64_t t = 0; t < block.num_tiles(); ++t) {
      PollProgress();
      for (size_t g = 0; g < poolings_.size(); ++g) {
        const PooledModels& group = poolings_[g];
        const Tile tile = block.PoolTileInto(t, group.pooling, &work.tile);
        if (group.fitted) facts[g].hash += HashOfCase(tile);
        if (needs_free_energy_) FreeEnergyTile(tile, work.free_energy);
        // Rows are counted where they are pooled first, not again for every pooling.
        const int64_t renormalised = block.TakeRenormalised();
        if (g == 0) renormalised_ += renormalised;
        for (const size_t m : group.models)
          AddTile(tile, ModelAccess::State(models_[m]), *state, m, &work, &sums.of[m]);
      }
    }
    FlushSums(&sums);
    const auto labels = block.labels();
    const int64_t labelled =
        static_cast<int64_t>(labels.size()) - std::count(labels.begin(), labels.end(), kNoLabel);
    for (CaseFacts& f : facts) f.labelled = labelled;
    AddCaseFacts(block, &facts.front());
    const std::lock_guard lock(state->facts_mutex);
    MergeSums(facts, &state->facts);
    labelled_ += labelled;
    voxels_ += block.count();
  }

  static void AddTile(const Tile& tile,
                      const ModelState& model,
                      const CaseState& state,
                      size_t m,
                      Workspace* work,
                      Accumulators* sums) {
    const TileProbs probs = work->emit.Reserve(tile.num_classes);
    EmitTile(*state.bound[m], model.calibrator->properties(), tile, probs);
    TopLabelTile(probs.probs, tile.num_classes, work->confidence, work->predicted);
    sums->Add({.num_classes = tile.num_classes,
               .probs = probs.probs,
               .log_label = probs.log_label,
               .confidence = work->confidence,
               .predicted = work->predicted,
               .decision = tile.decision,
               .labels = tile.labels,
               .free_energy = work->free_energy,
               .first_voxel = tile.first_voxel,
               .squared_distance = From(state.distances.voxels, tile.first_voxel),
               .squared_length = From(state.distances.lengths, tile.first_voxel)});
  }

  void FinishCase(int64_t c, const CaseReader& reader) {
    CaseState& state = cases_[static_cast<size_t>(c)];
    ModelSums totals = state.sums->TakeTotal();
    for (size_t m = 0; m < models_.size(); ++m) {
      Accumulators total = std::move(totals.of[m]);
      total.Complete();
      CaseMetrics& row = result_.pipelines[m].cases[static_cast<size_t>(c)];
      row = {.id = reader.id(),
             .group = stream_.dataset().cases[static_cast<size_t>(c)].group,
             .metrics = total.Finish(),
             .cells = options_.keep_cells ? total.Cells() : std::vector<CellRow>(),
             .pooled_bins = total.PooledBins()};
      const std::lock_guard lock(pooled_mutex_);
      largest_case_ = std::max(largest_case_, reader.num_voxels());
      pooled_[m].MergeCase(total);
      groups_.AddCase(c, m, total);
    }
    state.sums.reset();
    state.bound.clear();
    state.distances = {};
  }

  void FinishPipeline(size_t m) {
    PipelineMetrics& pipeline = result_.pipelines[m];
    pooled_[m].Complete();
    pipeline.pooled = pooled_[m].Finish();
    pipeline.diagrams = pooled_[m].Diagrams();
    pipeline.mean = MeanOverCases(pipeline.cases, selection_, pipeline.pooled);
    pipeline.groups = groups_.Finish(m, pipeline.cases);
    pipeline.group_mean = MeanOverGroups(pipeline.groups);
  }

  // What is odd about the cases, or makes models look better or worse than they are.
  std::vector<std::string> DataWarnings() const {
    std::vector<CaseFacts> facts;
    for (const CaseState& state : cases_) facts.push_back(state.facts.front());
    std::vector<std::string> warnings = CaseWarnings(stream_.dataset(), facts);
    for (const Model& model : models_) {
      if (std::string warning = MembersWarning(model, stream_.dataset()); !warning.empty())
        warnings.push_back(std::move(warning));
    }
    if (std::string warning = FittedWarning(); !warning.empty())
      warnings.push_back(std::move(warning));
    return warnings;
  }

  // By what models remember of the cases they saw.
  std::string FittedWarning() const {
    std::set<std::string> pipelines;
    std::set<size_t> seen;
    for (size_t g = 0; g < poolings_.size(); ++g) {
      for (const size_t m : poolings_[g].models) {
        const std::vector<uint64_t> hashes = KnownCases(models_[m]);
        const std::set<uint64_t> known(hashes.begin(), hashes.end());
        for (size_t c = 0; c < cases_.size(); ++c) {
          if (!known.contains(cases_[c].facts[g].hash)) continue;
          pipelines.insert(models_[m].pipeline());
          seen.insert(c);
        }
      }
    }
    if (seen.empty()) return {};
    std::vector<std::string> ids;
    for (const size_t c : seen) ids.push_back(stream_.dataset().cases[c].id);
    return fmt::format(
        "{} of the {} cases took part in the fit of {} ({}), which look better on them than on "
        "others; option split leaves them out",
        seen.size(),
        cases_.size(),
        NameSome({pipelines.begin(), pipelines.end()}),
        NameSome(ids));
  }

  std::string MemoryWarning() const {
    return fmt::format(
        "metrics that need every voxel of a case hold {:.1f} GiB for the largest, option memory is "
        "{:.1f} GiB: name fewer metrics or pipelines",
        static_cast<double>(KeptBytes()) * 0x1p-30,
        static_cast<double>(stream_.memory()) * 0x1p-30);
  }

  // The stream holds further cases back (StreamOptions), but one must be open.
  int64_t KeptBytes() const { return largest_case_ * stream_.options().bytes_per_voxel; }

  const CaseStream& stream_;
  const std::vector<Model>& models_;
  const EvaluateOptions& options_;
  const MetricSelection selection_;
  const std::vector<PooledModels> poolings_;
  const bool needs_free_energy_;
  const MetricContext context_;
  std::vector<CaseState> cases_;
  std::vector<Workspace> workspaces_;
  std::mutex pooled_mutex_;
  std::vector<Accumulators> pooled_;
  GroupSums groups_;
  int64_t largest_case_ = 0;  // guarded by pooled_mutex_
  std::atomic<int64_t> voxels_{0};
  std::atomic<int64_t> labelled_{0};
  std::atomic<int64_t> renormalised_{0};
  EvaluateResult result_;
};

// A case without labels can be read but not evaluated: an error, or with skip_bad left out.
Dataset LabelledCases(const Dataset& dataset, bool skip_bad, std::vector<std::string>* skipped) {
  Dataset labelled = dataset;
  std::erase_if(labelled.cases, [&](const Case& c) {
    if (!c.labels.empty()) return false;
    if (!skip_bad)
      Throw(ErrorCode::kBadData,
            "case {} has no labels, which evaluation needs; option skip_bad leaves it out",
            c.id);
    skipped->push_back(c.id + ": no labels");
    return true;
  });
  return labelled;
}

}  // namespace

Model Baseline(const Dataset& dataset, const std::string& pipeline) {
  CheckDataset(dataset, DatasetTitle(dataset));
  const PipelineSpec spec = ParsePipeline(pipeline);
  Model model = UnfittedModel(spec, dataset.classes, *dataset.input);
  if (ModelAccess::State(model).calibrator->counts(dataset.num_classes()).optimised > 0) {
    Throw(ErrorCode::kInvalidArgument, "{} must be fitted first", model.pipeline());
  }
  return model;
}

EvaluateResult Evaluate(const Dataset& dataset,
                        const std::vector<Model>& models,
                        const EvaluateOptions& options) {
  return EvaluateWithSums(dataset, models, options, nullptr);
}

EvaluateResult EvaluateWithSums(const Dataset& dataset,
                                const std::vector<Model>& models,
                                const EvaluateOptions& options,
                                std::vector<std::string>* sums) {
  const ProgressScope scope(options.run.progress);
  if (models.empty())
    Throw(ErrorCode::kInvalidArgument, "no model or pipeline to evaluate is named");
  MetricSelection selection = SelectMetrics(options);  // names are checked before the work
  std::vector<Pooling> poolings;
  for (const Model& model : models) {
    CheckCompatible(model, dataset);
    poolings.push_back(ModelAccess::State(model).spec.pooling);
  }
  const Dataset split = options.split.empty() ? dataset : SelectSplit(dataset, options.split);
  std::vector<std::string> skipped;
  const Dataset labelled = LabelledCases(split, options.run.skip_bad, &skipped);
  const Dataset cases = ReadableCases(labelled, poolings, options.run, &skipped);
  StreamOptions stream_options = MakeStreamOptions(options.run);
  stream_options.bytes_per_voxel = KeptPerVoxel(selection, cases.num_classes(), models.size());
  const CaseStream stream(cases, poolings, std::move(stream_options));
  EvaluateResult result = Evaluation(stream, models, options, std::move(selection)).Run(sums);
  result.split = options.split;
  result.skipped = std::move(skipped);
  return result;
}

}  // namespace segcal
