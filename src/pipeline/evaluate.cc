// SPDX-License-Identifier: Apache-2.0
#include "segcal/evaluate.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "core/progress.h"
#include "core/throw.h"
#include "data/case_distance.h"
#include "data/reduce.h"
#include "kernels/softmax.h"
#include "pipeline/accumulators.h"
#include "pipeline/aggregate.h"
#include "pipeline/case_facts.h"
#include "pipeline/compatible.h"
#include "pipeline/emit.h"
#include "pipeline/evaluate.h"
#include "pipeline/model.h"
#include "pipeline/run.h"
#include "spatial/distance.h"

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

// Metrics read whole tiles, also where the case ends within one.
template <class T>
void FillLastTile(T beyond, std::vector<T>* values) {
  const auto tile = static_cast<size_t>(kTileVoxels);
  values->resize((values->size() + tile - 1) / tile * tile, beyond);
}

// The hashes of cases that a model was fitted on or chosen by. Where nothing was fitted, no case
// made it look better.
std::set<uint64_t> KnownCases(const Model& model) {
  if (model.parameter_counts().optimised == 0) return {};
  const std::vector<uint64_t>& hashes = model.report().data.case_hashes;
  return {hashes.begin(), hashes.end()};
}

// Models that share a pooling share the pooled tile.
struct PooledModels {
  Pooling pooling;
  std::vector<size_t> models;
  std::map<size_t, std::set<uint64_t>> known;  // cases of those models that remember some
};

std::vector<PooledModels> GroupByPooling(const std::vector<Model>& models) {
  std::vector<PooledModels> groups;
  for (size_t m = 0; m < models.size(); ++m) {
    const Pooling& pooling = ModelAccess::State(models[m]).spec.pooling;
    auto group = std::find_if(
        groups.begin(), groups.end(), [&](const PooledModels& g) { return g.pooling == pooling; });
    if (group == groups.end())
      group = groups.insert(group, {.pooling = pooling, .models = {}, .known = {}});
    group->models.push_back(m);
    if (std::set<uint64_t> known = KnownCases(models[m]); !known.empty())
      group->known[m] = std::move(known);
  }
  return groups;
}

class Evaluation {
 public:
  Evaluation(const EvaluatePlan& plan,
             const CaseStream& stream,
             const std::vector<Model>& models,
             bool keep_cells)
      : plan_(plan),
        stream_(stream),
        models_(models),
        keep_cells_(keep_cells),
        poolings_(GroupByPooling(models)),
        needs_free_energy_(NeedsFreeEnergy(plan.selection)),
        context_(plan.context()),
        cases_(static_cast<size_t>(stream.num_cases())),
        workspaces_(static_cast<size_t>(stream.num_workers())),
        groups_(stream.dataset(), plan.grouped, models.size(), context_, plan.selection),
        done_(NothingEvaluated(plan)) {
    for (EvaluatedPipeline& pipeline : done_.pipelines) pipeline.cases.resize(cases_.size());
  }

  EvaluatedCases Run() {
    stream_.ForEachBlock(
        "evaluate",
        [&](VoxelBlock& block, int64_t c, int worker) {
          AddBlock(block, &OpenCase(c, block.reader()), worker);
        },
        [&](int64_t c, const CaseReader& reader) { FinishCase(c, reader); });
    for (size_t m = 0; m < models_.size(); ++m)
      done_.pipelines[m].groups = groups_.Finish(m, done_.pipelines[m].cases);
    done_.cases = DescribeCases();
    done_.voxels = voxels_;
    done_.labelled = labelled_;
    done_.renormalised = renormalised_;
    done_.memory = stream_.memory();
    return std::move(done_);
  }

 private:
  struct Workspace {
    TileBuffer tile;
    EmitBuffer emit;
    alignas(64) double free_energy[kTileVoxels];
    TopLabelBuffer top;
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
      if (NeedsDistance(plan_.selection)) {
        state.distances =
            SquaredCaseDistances(reader, NeedsLengths(plan_.selection), stream_.num_workers());
        FillLastTile(kNoSource, &state.distances.voxels);
        FillLastTile(std::numeric_limits<double>::infinity(), &state.distances.lengths);
      }
      state.context = context_;
      state.context.grid = MakeGrid(reader.shape(), reader.spacing());
      state.sums.emplace(stream_.num_workers(),
                         [this, &state] { return EmptySums(state.context); });
    });
    return state;
  }

  ModelSums EmptySums(const MetricContext& context) const {
    ModelSums sums;
    for (size_t m = 0; m < models_.size(); ++m) sums.of.emplace_back(context, plan_.selection);
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
        if (!group.known.empty()) facts[g].hash += HashOfCase(tile);
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
    const TopLabel top =
        EmitTopLabel(*state.bound[m], model.calibrator->properties(), tile, probs, &work->top);
    sums->Add({.num_classes = tile.num_classes,
               .probs = probs.probs,
               .log_label = probs.log_label,
               .confidence = top.confidence,
               .predicted = top.predicted,
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
      CaseMetrics& row = done_.pipelines[m].cases[static_cast<size_t>(c)];
      row = {.id = reader.id(),
             .group = stream_.dataset().cases[static_cast<size_t>(c)].group,
             .metrics = total.Finish(),
             .cells = keep_cells_ ? total.Cells() : std::vector<CellRow>(),
             .pooled_bins = total.PooledBins()};
      const std::lock_guard lock(pooled_mutex_);
      done_.largest_case = std::max(done_.largest_case, reader.num_voxels());
      done_.pipelines[m].pooled.MergeCase(total);
      groups_.AddCase(c, m, total);
    }
    state.sums.reset();
    state.bound.clear();
    state.distances = {};
  }

  std::vector<EvaluatedCase> DescribeCases() const {
    std::vector<EvaluatedCase> described;
    for (size_t c = 0; c < cases_.size(); ++c) {
      const CaseFacts& facts = cases_[c].facts.front();
      described.push_back({.id = stream_.dataset().cases[c].id,
                           .labelled = facts.labelled,
                           .constant = ConstantMembers(facts),
                           .known_to = KnownTo(cases_[c].facts)});
    }
    return described;
  }

  // The models that took part in this case's fit, by what they remember of the cases they saw.
  std::vector<int64_t> KnownTo(const std::vector<CaseFacts>& facts) const {
    std::vector<int64_t> known;
    for (size_t g = 0; g < poolings_.size(); ++g) {
      for (const auto& [m, cases] : poolings_[g].known) {
        if (cases.contains(facts[g].hash)) known.push_back(static_cast<int64_t>(m));
      }
    }
    std::sort(known.begin(), known.end());
    return known;
  }

  const EvaluatePlan& plan_;
  const CaseStream& stream_;
  const std::vector<Model>& models_;
  const bool keep_cells_;
  const std::vector<PooledModels> poolings_;
  const bool needs_free_energy_;
  const MetricContext context_;
  std::vector<CaseState> cases_;
  std::vector<Workspace> workspaces_;
  std::mutex pooled_mutex_;  // of sums over cases
  GroupSums groups_;
  std::atomic<int64_t> voxels_{0};
  std::atomic<int64_t> labelled_{0};
  std::atomic<int64_t> renormalised_{0};
  EvaluatedCases done_;
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

Dataset CasesToEvaluate(const Dataset& dataset,
                        const std::vector<Model>& models,
                        const EvaluateOptions& options) {
  if (models.empty())
    Throw(ErrorCode::kInvalidArgument, "no model or pipeline to evaluate is named");
  SelectMetrics(options);  // an unknown name is told before anything else
  for (const Model& model : models) CheckCompatible(model, dataset);
  return options.split.empty() ? dataset : SelectSplit(dataset, options.split);
}

EvaluatePlan PlanEvaluation(const Dataset& cases,
                            const std::vector<Model>& models,
                            const EvaluateOptions& options) {
  EvaluatePlan plan;
  plan.dataset = cases.name;
  plan.split = options.split;
  plan.classes = cases.classes;
  plan.background = cases.background.value_or(-1);
  plan.grouped = NamesGroups(cases);
  plan.selection = SelectMetrics(options);
  for (const Model& model : models) {
    plan.pipelines.push_back({.name = model.pipeline(),
                              .properties = ModelAccess::State(model).properties(),
                              .warning = MembersWarning(model, cases)});
  }
  return plan;
}

EvaluatedCases EvaluateCases(const EvaluatePlan& plan,
                             const Dataset& cases,
                             const std::vector<Model>& models,
                             const EvaluateOptions& options) {
  std::vector<Pooling> poolings;
  for (const Model& model : models) poolings.push_back(ModelAccess::State(model).spec.pooling);
  std::vector<std::string> unlabelled;
  std::vector<std::string> unreadable;
  const Dataset labelled = LabelledCases(cases, options.run.skip_bad, &unlabelled);
  const Dataset good = GoodCases(labelled, poolings, options.run, &unreadable);
  EvaluatedCases done = NothingEvaluated(plan);
  if (!good.cases.empty()) {
    StreamOptions stream_options = MakeStreamOptions(options.run);
    stream_options.bytes_per_voxel = plan.bytes_per_voxel();
    const CaseStream stream(good, poolings, std::move(stream_options));
    done = Evaluation(plan, stream, models, options.keep_cells).Run();
  }
  done.unlabelled = std::move(unlabelled);
  done.unreadable = std::move(unreadable);
  return done;
}

EvaluateResult Evaluate(const Dataset& dataset,
                        const std::vector<Model>& models,
                        const EvaluateOptions& options) {
  const ProgressScope scope(options.run.progress);
  const Dataset cases = CasesToEvaluate(dataset, models, options);
  const EvaluatePlan plan = PlanEvaluation(cases, models, options);
  return FinishEvaluation(plan, EvaluateCases(plan, cases, models, options));
}

}  // namespace segcal
