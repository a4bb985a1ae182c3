// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "core/progress.h"
#include "core/throw.h"
#include "data/input_check.h"
#include "pipeline/compatible.h"
#include "pipeline/emit_case.h"
#include "pipeline/memory_output.h"
#include "pipeline/model.h"
#include "pipeline/run.h"
#include "segcal/apply.h"

namespace segcal {
namespace {

// A case that is not part of a data set, as one of its own. No output needs labels, and how they
// are coded is not known here.
Dataset MakeDataset(const Model& model, Case entry) {
  entry.labels = {};
  return {.name = "memory",
          .classes = model.classes(),
          .input = model.input(),
          .cases = {std::move(entry)}};
}

// The members that a model takes; none: all.
std::vector<int64_t> FindMembers(const ModelState& state, const Case& entry) {
  const int64_t member = state.spec.pooling.member;
  if (member < 0) return {};
  if (member < std::ssize(entry.members)) return {member};
  Throw(ErrorCode::kInvalidArgument,
        "the model {} takes member {}, {} members were given",
        state.pipeline,
        member,
        entry.members.size());
}

// Neighbours are known only where the shape says how voxels lie.
void CheckShape(const ModelState& state, const CaseReader& reader) {
  if (state.calibrator->needs().halo == 0 || reader.shape().size() > 1) return;
  Throw(ErrorCode::kInvalidArgument,
        "case {}: {} looks at neighbours, the prediction has a single spatial axis; "
        "(C, H, W) or (C, D, H, W) is required",
        reader.id(),
        state.pipeline);
}

void ApplyToArrays(const ModelState& state,
                   const CaseReader& reader,
                   const std::vector<MemoryOutput>& outputs,
                   const RunOptions& run) {
  const int threads = run.threads > 0 ? run.threads : AvailableThreads();
  const auto bound = state.calibrator->Bind(reader, state.spec.pooling, {.threads = threads});
  std::vector<const OutputKind*> kinds;
  for (const MemoryOutput& output : outputs) kinds.push_back(&output.kind());
  CheckTemperature(kinds, reader, state.spec.pooling, *bound, state.pipeline);
  const bool keep_decision = state.properties().preserves != Preserves::kNone;
  std::vector<TileScratch> scratch(static_cast<size_t>(threads));
  EmitCase(state, *bound, reader, threads, [&](const EmittedTile& emitted, int worker) {
    for (const MemoryOutput& output : outputs)
      output.Write(emitted, keep_decision, &scratch[static_cast<size_t>(worker)]);
  });
}

}  // namespace

void Apply(const Model& model, const Case& entry, const ApplyOutputs& out, const RunOptions& run) {
  const ProgressScope scope(run.progress);
  ReportProgress({.stage = "apply " + model.pipeline()});
  const ModelState& state = ModelAccess::State(model);
  const Dataset dataset = MakeDataset(model, entry);
  CheckCompatible(model, dataset);
  const StreamOptions options = MakeStreamOptions(run);
  const auto arrays = static_cast<int64_t>(entry.members.size()) + 2;
  const CaseReader reader(
      dataset,
      dataset.cases[0],
      FindMembers(state, entry),
      {.key = {}, .memory_limit = options.memory / 2 / arrays, .cache_dir = options.cache_dir});
  CheckInputKind(reader);
  CheckShape(state, reader);
  const std::vector<MemoryOutput> outputs = OpenOutputs(out, reader);
  CheckApart(outputs, dataset.cases[0]);
  ApplyToArrays(state, reader, outputs, run);
}

void Model::Apply(const MembersView& members, const ApplyOutputs& out, int threads) const {
  if (members.kind() != input()) {
    Throw(ErrorCode::kInvalidArgument,
          "the model {} takes {}, it was given {}",
          pipeline(),
          Name(input()),
          Name(members.kind()));
  }
  if (members.members().empty())
    Throw(ErrorCode::kInvalidArgument, "no member to apply {} to", pipeline());
  Case entry{.id = "array"};
  for (const ArrayView& view : members.members()) entry.members.emplace_back(view);
  RunOptions run;
  run.threads = threads;
  segcal::Apply(*this, entry, out, run);
}

}  // namespace segcal
