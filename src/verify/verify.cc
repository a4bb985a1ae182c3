// SPDX-License-Identifier: Apache-2.0
#include "segcal/verify.h"

#include <algorithm>
#include <atomic>

#include "core/parallel.h"
#include "core/progress.h"
#include "core/throw.h"
#include "methods/shared/bound_pass.h"
#include "pipeline/compatible.h"
#include "pipeline/model.h"
#include "pipeline/run.h"
#include "verify/verify_checks.h"
#include "verify/verify_inputs.h"

namespace segcal {
namespace {

// Spatial indices of a voxel in C order.
std::vector<int64_t> VoxelPosition(int64_t voxel, const std::vector<int64_t>& shape) {
  std::vector<int64_t> position(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    position[axis] = voxel % shape[axis];
    voxel /= shape[axis];
  }
  return position;
}

// The pooled scores of a tile as the calibrator sees them.
void ScoresOfTile(const Tile& tile, std::vector<double>* scores) {
  const int64_t n = tile.num_classes * kTileVoxels;
  scores->assign(tile.logits, tile.logits + n);
}

// The mean logits of a generated tile before any rounding to float32. The sum of two float32
// numbers rounds monotonely, so a difference seen here is a true one.
void MeanLogits(const GeneratedCase& made, const Tile& tile, std::vector<double>* scores) {
  scores->assign(static_cast<size_t>(tile.num_classes * kTileVoxels), 0.0);
  for (const std::vector<float>& member : made.members) {
    for (int64_t c = 0; c < tile.num_classes; ++c) {
      const float* row = member.data() + c * kBlockVoxels + tile.first_voxel;
      for (int64_t v = 0; v < tile.count; ++v)
        (*scores)[static_cast<size_t>(c * kTileVoxels + v)] += static_cast<double>(row[v]);
    }
  }
}

// What one worker needs.
struct VerifyWorkspace {
  VerifyWorkspace(const ModelState& model, int64_t max_examples)
      : emitted(model, max_examples), offsets(model, max_examples) {}

  void Merge(const VerifyWorkspace& other) {
    emitted.Merge(other.emitted);
    offsets.Merge(other.offsets);
  }

  EmittedChecks emitted;
  OffsetCheck offsets;
  TileBuffer tile;
  TileBuffer shifted_tile;
  std::vector<double> scores;
};

class Verification {
 public:
  Verification(const Model& model, const VerifyOptions& options)
      : state_(ModelAccess::State(model)),
        options_(options),
        form_{.classes = state_.classes, .input = state_.input, .pooling = state_.spec.pooling},
        generator_(form_, options.seed) {
    result_.pipeline = model.pipeline();
    result_.translation_invariant = model.translation_invariant();
    result_.preserves = model.preserves();
    result_.seed = options.seed;
  }

  void CheckParameters() {
    for (const Claim& claim : state_.calibrator->Claims()) {
      result_.claims.push_back({.what = claim.what,
                                .property = claim.property,
                                .found = claim.found,
                                .allowed = claim.allowed,
                                .holds = claim.holds});
    }
  }

  // Every kind of generated row: distributions, decision, order.
  void CheckMixed() {
    const bool raw =
        state_.input == InputKind::kLogits && state_.spec.pooling.rule == PoolRule::kMeanLogits;
    const VerifyWorkspace total =
        ForEachGenerated("verify emitted rows", [&](int64_t index, VerifyWorkspace* work) {
          const GeneratedCase made = generator_.Mixed(index);
          const auto reader = generator_.Open(made);
          const auto bound = state_.calibrator->Bind(*reader, state_.spec.pooling, {});
          VoxelBlock block;
          block.Read(*reader, 0, kBlockVoxels);
          for (int64_t t = 0; t < block.num_tiles(); ++t) {
            const Tile tile = block.PoolTileInto(t, state_.spec.pooling, &work->tile);
            if (raw) {
              MeanLogits(made, tile, &work->scores);
            } else {
              ScoresOfTile(tile, &work->scores);
            }
            work->emitted.Add(*bound, tile, work->scores.data(), index, Naming(made, tile));
          }
        });
    AddChecks("generated", total);
  }

  // The same logits twice, the second time with offsets.
  void CheckTranslation() {
    if (state_.input != InputKind::kLogits) {
      VerifyCheck check = OffsetCheck(state_, 0).Finish();
      check.note = fmt::format("{} have no offset", Name(state_.input));
      result_.checks.push_back(std::move(check));
      return;
    }
    const VerifyWorkspace total =
        ForEachGenerated("verify offsets", [&](int64_t index, VerifyWorkspace* work) {
          const GeneratedCase made = generator_.OnGrid(index);
          const GeneratedCase shifted = generator_.WithOffsets(made);
          const auto reader = generator_.Open(made);
          const auto shifted_reader = generator_.Open(shifted);
          const auto bound = state_.calibrator->Bind(*reader, state_.spec.pooling, {});
          const auto shifted_bound =
              state_.calibrator->Bind(*shifted_reader, state_.spec.pooling, {});
          VoxelBlock block, shifted_block;
          block.Read(*reader, 0, kBlockVoxels);
          shifted_block.Read(*shifted_reader, 0, kBlockVoxels);
          for (int64_t t = 0; t < block.num_tiles(); ++t) {
            const Tile tile = block.PoolTileInto(t, state_.spec.pooling, &work->tile);
            const Tile other =
                shifted_block.PoolTileInto(t, state_.spec.pooling, &work->shifted_tile);
            work->offsets.Add(*bound, tile, *shifted_bound, other, index, Naming(made, tile));
          }
        });
    result_.checks.push_back(total.offsets.Finish());
  }

  void CheckDataset(const Dataset& dataset) {
    const Dataset split = options_.split.empty() ? dataset : SelectSplit(dataset, options_.split);
    result_.dataset = dataset.name;
    result_.split = options_.split;
    const Pooling& pooling = state_.spec.pooling;
    const Dataset cases = ReadableCases(split, {pooling}, options_.run, &result_.skipped);
    const CaseStream stream(cases, {pooling}, MakeStreamOptions(options_.run));
    BoundCases bound(stream, *state_.calibrator, pooling);
    const VerifyWorkspace total = ReduceBlocks(
        stream,
        "verify " + dataset.name,
        [&] { return EmptyWorkspace(); },
        [&](VoxelBlock& block, int64_t c, TileBuffer*, VerifyWorkspace* work) {
          AddBlock(bound.Find(c, block.reader()), c, &block, work);
        },
        [&](int64_t c, const CaseReader&) { bound.Release(c); });
    AddChecks("dataset", total);
  }

  VerifyResult Finish() { return std::move(result_); }

 private:
  VerifyWorkspace EmptyWorkspace() const { return {state_, options_.max_examples}; }

  // As many threads as asked for, if memory has room for what each generates.
  int NumWorkers() const {
    const StreamOptions run = MakeStreamOptions(options_.run);
    const int threads = run.threads == 0 ? AvailableThreads() : run.threads;
    // Two cases of two members, with room for what a calibrator keeps of each.
    const int64_t bytes = form_.num_classes() * kBlockVoxels * int64_t{sizeof(float)} * 8;
    return static_cast<int>(std::clamp<int64_t>(run.memory / bytes, 1, threads));
  }

  template <class Work>
  VerifyWorkspace ForEachGenerated(const std::string& stage, const Work& work) const {
    const int64_t num_cases = (options_.voxels + kBlockVoxels - 1) / kBlockVoxels;
    std::atomic<int64_t> done{0};
    return ReduceItems(
        num_cases,
        NumWorkers(),
        [&] { return EmptyWorkspace(); },
        [&](int64_t index, VerifyWorkspace* workspace) {
          work(index, workspace);
          done += kBlockVoxels;
          ReportProgress({.stage = stage, .done = done, .total = num_cases * kBlockVoxels});
        });
  }

  static Describe Naming(const GeneratedCase& made, const Tile& tile) {
    return [&made, first = tile.first_voxel](int64_t v) {
      CounterExample example;
      example.source = Name(made.kinds[static_cast<size_t>(first + v)]);
      example.voxel = made.index * kBlockVoxels + first + v;
      return example;
    };
  }

  void AddBlock(const BoundCalibrator& bound,
                int64_t c,
                VoxelBlock* block,
                VerifyWorkspace* work) const {
    const CaseReader& reader = block->reader();
    for (int64_t t = 0; t < block->num_tiles(); ++t) {
      const Tile tile = block->PoolTileInto(t, state_.spec.pooling, &work->tile);
      ScoresOfTile(tile, &work->scores);
      work->emitted.Add(bound, tile, work->scores.data(), c, [&](int64_t v) {
        CounterExample example;
        example.source = reader.id();
        example.voxel = tile.first_voxel + v;
        example.position = VoxelPosition(example.voxel, reader.shape());
        return example;
      });
    }
  }

  void AddChecks(const char* input, const VerifyWorkspace& total) {
    for (VerifyCheck& check : total.emitted.Finish(input))
      result_.checks.push_back(std::move(check));
  }

  const ModelState& state_;
  const VerifyOptions& options_;
  const InputForm form_;
  const InputGenerator generator_;
  VerifyResult result_;
};

void CheckOptions(const VerifyOptions& options) {
  if (options.voxels < 0 || options.voxels > int64_t{1} << 40) {
    Throw(ErrorCode::kInvalidArgument, "{} voxels; 0 to 2^40 are required", options.voxels);
  }
  if (options.max_examples < 0) {
    Throw(
        ErrorCode::kInvalidArgument, "{} examples; at least 0 are required", options.max_examples);
  }
}

VerifyResult Run(const Model& model, const Dataset* dataset, const VerifyOptions& options) {
  const ProgressScope scope(options.run.progress);
  CheckOptions(options);
  const bool needs_image = ModelAccess::State(model).calibrator->needs().image;
  if (dataset == nullptr && (needs_image || options.voxels == 0)) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: {}; give a data set",
          model.pipeline(),
          needs_image ? "looks at the image of a case, which generated inputs do not have"
                      : "no generated inputs are asked for");
  }
  if (dataset != nullptr) CheckCompatible(model, *dataset);
  Verification verification(model, options);
  verification.CheckParameters();
  if (options.voxels > 0 && !needs_image) {
    verification.CheckMixed();
    verification.CheckTranslation();
  }
  if (dataset != nullptr) verification.CheckDataset(*dataset);
  return verification.Finish();
}

}  // namespace

bool VerifyResult::holds() const noexcept {
  return std::all_of(claims.begin(), claims.end(), [](const auto& claim) { return claim.holds; }) &&
         std::all_of(checks.begin(), checks.end(), [](const auto& check) { return check.holds(); });
}

VerifyResult Verify(const Model& model, const VerifyOptions& options) {
  return Run(model, nullptr, options);
}

VerifyResult Verify(const Model& model, const Dataset& dataset, const VerifyOptions& options) {
  return Run(model, &dataset, options);
}

}  // namespace segcal
