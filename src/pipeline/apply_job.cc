// SPDX-License-Identifier: Apache-2.0
#include "pipeline/apply_job.h"

#include <algorithm>
#include <atomic>

#include "core/file.h"
#include "core/parallel.h"
#include "core/progress.h"
#include "core/throw.h"
#include "pipeline/case_facts.h"
#include "pipeline/emit.h"
#include "pipeline/model.h"
#include "pipeline/run.h"

namespace segcal {
namespace {

// The arrays of one case being written, made when its first block arrives.
struct CaseFiles {
  PolledOnce made;
  bool knows_geometry = true;
  std::vector<CaseOutput> outputs;
  std::unique_ptr<BoundCalibrator> bound;
};

// What one worker needs.
struct ApplyWorkspace {
  TileBuffer tile;
  EmitWorkspace emit;
  std::vector<CaseOutput::Scratch> scratch;
};

// Before the work: writing over a file of the data set would destroy what is being read.
void CheckOutputs(const Model& model, const Dataset& dataset, const ApplyPlan& plan) {
  OutputCheck check(plan.force);
  check.Reads(model.file());
  check.Reads(dataset);
  for (const PlannedOutput& output : plan.outputs) {
    check.WritesInto(output.folder);
    for (const Case& c : dataset.cases) check.Writes(OutputPath(output, c.id), FileKind::kArray);
  }
}

// What the outputs of all threads may keep in memory until they are encoded: a quarter in all.
int64_t WriterMemory(const RunOptions& run, int64_t outputs) {
  const int64_t threads = run.threads > 0 ? run.threads : AvailableThreads();
  return run.memory / 4 / (threads * outputs);
}

class ApplyJob {
 public:
  ApplyJob(const Model& model,
           const CaseStream& stream,
           const ApplyPlan& plan,
           const RunOptions& run)
      : state_(ModelAccess::State(model)),
        stream_(stream),
        plan_(plan),
        options_{.dtype = plan.dtype,
                 .compress = plan.compress,
                 .memory = WriterMemory(run, std::ssize(plan.outputs)),
                 .cache_dir = run.cache_dir,
                 .threads = stream.num_workers()},
        cases_(static_cast<size_t>(stream.num_cases())),
        workspaces_(static_cast<size_t>(stream.num_workers())) {}

  AppliedCases Run() {
    std::atomic<int64_t> voxels{0};
    stream_.ForEachBlock(
        "apply " + state_.pipeline,
        [&](VoxelBlock& block, int64_t c, int worker) {
          ApplyBlock(block, c, &workspaces_[static_cast<size_t>(worker)]);
        },
        [&](int64_t c, const CaseReader& reader) {
          Finish(&cases_[static_cast<size_t>(c)]);
          voxels += reader.num_voxels();
        });
    AppliedCases done;
    done.voxels = voxels;
    done.renormalised = renormalised_;
    for (int64_t c = 0; c < stream_.num_cases(); ++c) done.cases.push_back(Describe(c));
    return done;
  }

 private:
  const Case& entry(int64_t c) const { return stream_.dataset().cases[static_cast<size_t>(c)]; }

  CaseFiles& OpenFiles(int64_t c, const CaseReader& reader) {
    CaseFiles& files = cases_[static_cast<size_t>(c)];
    files.made.Call([&] {
      files.outputs.clear();  // what an attempt that failed has left
      const std::string reference = plan_.reference(entry(c), reader);
      files.knows_geometry = !reference.empty();
      for (const PlannedOutput& output : plan_.outputs) {
        if (output.kind->needs_labels && !reader.has_labels()) {
          Throw(ErrorCode::kBadData,
                "case {} has no labels, which {} needs",
                reader.id(),
                output.kind->name);
        }
        files.outputs.emplace_back(output, reader, reference, options_);
      }
      files.bound = state_.calibrator->Bind(reader, state_.spec.pooling, MakeBindOptions(stream_));
      std::vector<const OutputKind*> kinds;
      for (const PlannedOutput& output : plan_.outputs) kinds.push_back(output.kind);
      CheckTemperature(kinds, reader, state_.spec.pooling, *files.bound, state_.pipeline);
    });
    return files;
  }

  AppliedCase Describe(int64_t c) const {
    AppliedCase described;
    described.id = entry(c).id;
    for (const PlannedOutput& output : plan_.outputs)
      described.files.push_back(OutputPath(output, described.id));
    const auto keeps = [](const PlannedOutput& output) { return output.format->keeps_geometry; };
    described.knows_place = cases_[static_cast<size_t>(c)].knows_geometry ||
                            std::none_of(plan_.outputs.begin(), plan_.outputs.end(), keeps);
    return described;
  }

  void ApplyBlock(VoxelBlock& block, int64_t c, ApplyWorkspace* work) {
    const CaseFiles& files = OpenFiles(c, block.reader());
    work->scratch.resize(files.outputs.size());
    const Properties properties = state_.calibrator->properties();
    const bool keep_decision = properties.preserves != Preserves::kNone;
    for (int64_t t = 0; t < block.num_tiles(); ++t) {
      const Tile tile = block.PoolTileInto(t, state_.spec.pooling, &work->tile, Excused::kMasked);
      const TileProbs probs = EmitForUse(*files.bound, properties, tile, &work->emit);
      for (size_t k = 0; k < files.outputs.size(); ++k) {
        files.outputs[k].AddTile({tile, probs, *files.bound}, keep_decision, t, &work->scratch[k]);
      }
    }
    for (size_t k = 0; k < files.outputs.size(); ++k)
      files.outputs[k].WriteBlock(block, &work->scratch[k]);
    renormalised_ += block.TakeRenormalised();
  }

  void Finish(CaseFiles* files) {
    for (CaseOutput& output : files->outputs) output.Commit();
    files->outputs.clear();
    files->bound.reset();
  }

  const ModelState& state_;
  const CaseStream& stream_;
  const ApplyPlan& plan_;
  OutputOptions options_;
  std::vector<CaseFiles> cases_;
  std::vector<ApplyWorkspace> workspaces_;
  std::atomic<int64_t> renormalised_{0};
};

void WarnOfPlaces(const std::vector<AppliedCase>& cases, ApplyResult* result) {
  std::vector<std::string> ids;
  for (const AppliedCase& c : cases) {
    if (!c.knows_place) ids.push_back(c.id);
  }
  if (ids.empty()) return;
  result->warnings.push_back(fmt::format(
      "the place in space of {} of {} cases is not known (first {}): neither labels, members, "
      "image nor a file beside a member is NIfTI and of their size; their new files have the "
      "axes of the array, origin 0 and the spacing of the data set",
      ids.size(),
      cases.size(),
      ids.front()));
}

void WarnOfMissing(const AppliedCases& done, ApplyResult* result) {
  std::vector<std::string> missing;
  for (const AppliedCase& c : done.cases) {
    if (!c.not_there.empty()) missing.push_back(c.not_there);
  }
  if (missing.empty()) return;
  result->warnings.push_back(
      fmt::format("{} of {} cases have no .pkl, which nnUNetv2_ensemble needs (first {})",
                  missing.size(),
                  done.cases.size() + done.skipped.size(),
                  missing.front()));
}

// Others may be about to write into a folder that is still empty.
void MakeFolders(const ApplyPlan& plan, NewFolders* until_filled) {
  for (const PlannedOutput& output : plan.outputs) {
    if (plan.shared) {
      CreateFolder(output.folder);
    } else {
      until_filled->Make(output.folder);
    }
  }
}

}  // namespace

AppliedCases ApplyToCases(const Model& model,
                          const Dataset& cases,
                          const ApplyPlan& plan,
                          const RunOptions& run) {
  const ModelState& state = ModelAccess::State(model);
  CheckOutputs(model, cases, plan);
  std::vector<std::string> skipped;
  const Dataset good = GoodCases(cases, {state.spec.pooling}, run, &skipped, Excused::kMasked);
  AppliedCases done;
  if (!good.cases.empty()) {
    const CaseStream stream(good, {state.spec.pooling}, MakeStreamOptions(run));
    NewFolders folders;
    MakeFolders(plan, &folders);
    done = ApplyJob(model, stream, plan, run).Run();
  }
  done.skipped = std::move(skipped);
  return done;
}

ApplySummary SummariseApply(const Model& model, const Dataset& dataset) {
  return {.pipeline = model.pipeline(),
          .dataset = dataset.name,
          .ensemble = MembersWarning(model, dataset)};
}

ApplyResult FinishApply(const ApplySummary& summary, AppliedCases done) {
  if (done.cases.empty()) RefuseNoCases(summary.dataset, done.skipped);
  ApplyResult result;
  result.pipeline = summary.pipeline;
  result.voxels = done.voxels;
  result.renormalised = done.renormalised;
  result.warnings = summary.notes;
  for (const AppliedCase& c : done.cases)
    result.files.insert(result.files.end(), c.files.begin(), c.files.end());
  for (const AppliedCase& c : done.cases) {
    if (!c.carried_over.empty()) result.files.push_back(c.carried_over);
  }
  result.files.insert(result.files.end(), summary.files.begin(), summary.files.end());
  WarnOfPlaces(done.cases, &result);
  if (!summary.ensemble.empty()) result.warnings.push_back(summary.ensemble);
  WarnOfMissing(done, &result);
  result.warnings.insert(result.warnings.end(), summary.warnings.begin(), summary.warnings.end());
  result.skipped = std::move(done.skipped);
  return result;
}

}  // namespace segcal
