// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/parallel.h"
#include "core/throw.h"
#include "kernels/emit.h"
#include "pipeline/emit.h"
#include "pipeline/model.h"

namespace segcal {
namespace {

// The spatial extents of a view; one row of voxels where it does not say.
std::vector<int64_t> ShapeOf(const ScoresView& view, const std::string& name) {
  if (view.shape.empty()) return {view.num_voxels};
  int64_t voxels = 1;
  for (const int64_t extent : view.shape) {
    if (extent < 1 || __builtin_mul_overflow(voxels, extent, &voxels)) voxels = -1;
    if (voxels < 0) break;
  }
  if (voxels != view.num_voxels || view.shape.size() > 3) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: shape ({}) of {} voxels; one to three extents with that product are required",
          name,
          fmt::join(view.shape, ", "),
          view.num_voxels);
  }
  return view.shape;
}

// A view as an array, without a copy: (C, spatial...) or (spatial..., C), contiguous.
std::shared_ptr<const Array> ArrayOf(const ScoresView& view, int64_t member, bool channels_last) {
  const std::string name = fmt::format("member {}", member);
  // The stride of an axis with one element does not matter.
  const auto has = [](int64_t count, int64_t stride, int64_t wanted) {
    return count == 1 || stride == wanted;
  };
  const bool contiguous =
      has(view.num_classes, view.class_stride, channels_last ? 1 : view.num_voxels) &&
      has(view.num_voxels, view.voxel_stride, channels_last ? view.num_classes : 1);
  if (!contiguous) {
    Throw(ErrorCode::kUnsupported,
          "{}: class stride {} and voxel stride {}; contiguous (C, voxels) or (voxels, C) is "
          "required",
          name,
          view.class_stride,
          view.voxel_stride);
  }
  ArrayInfo info{.dtype = view.dtype, .shape = ShapeOf(view, name), .spacing = {}};
  info.shape.insert(channels_last ? info.shape.end() : info.shape.begin(), view.num_classes);
  return ArrayOverMemory(name, std::move(info), view.data);
}

CaseReader ReaderOf(const ModelState& state, const std::vector<const ScoresView*>& members) {
  Dataset dataset;
  dataset.classes = state.classes;
  dataset.input = state.input;
  const bool channels_last = members[0]->class_stride == 1 && members[0]->voxel_stride != 1;
  if (channels_last) dataset.layout = "channels_last";
  std::vector<std::shared_ptr<const Array>> arrays;
  arrays.reserve(members.size());
  for (const ScoresView* view : members) {
    arrays.push_back(ArrayOf(*view, static_cast<int64_t>(arrays.size()), channels_last));
  }
  Case entry;
  entry.id = "array";
  return CaseReader(dataset, entry, std::move(arrays), nullptr, nullptr);
}

// Neighbours are known only where the view says how its voxels lie; an image no view has.
void CheckShape(const ModelState& state, const std::vector<const ScoresView*>& members) {
  const Needs needs = state.calibrator->needs();
  if (needs.image) {
    Throw(ErrorCode::kUnsupported,
          "{} looks at the image of a case, which arrays do not have; apply it to a data set",
          state.pipeline);
  }
  if (needs.halo == 0) return;
  for (const ScoresView* view : members) {
    if (!view->shape.empty()) continue;
    Throw(ErrorCode::kInvalidArgument,
          "{} looks at neighbours: the views must say their shape",
          state.pipeline);
  }
}

void CheckOutput(const CaseReader& reader, const ProbsSpan& out) {
  if (out.num_classes == reader.num_classes() && out.num_voxels == reader.num_voxels()) return;
  Throw(ErrorCode::kInvalidArgument,
        "the output has {} classes and {} voxels, the input {} and {}",
        out.num_classes,
        out.num_voxels,
        reader.num_classes(),
        reader.num_voxels());
}

void StoreTile(const Tile& tile, const float* probs, const ProbsSpan& out) {
  float* first = out.data + tile.first_voxel * out.voxel_stride;
  if (out.voxel_stride == 1) {
    StreamRows(probs, tile.num_classes, tile.count, out.class_stride, first);
    return;
  }
  for (int64_t c = 0; c < tile.num_classes; ++c) {
    const float* row = probs + c * kTileVoxels;
    float* to = first + c * out.class_stride;
    for (int64_t v = 0; v < tile.count; ++v) to[v * out.voxel_stride] = row[v];
  }
}

void ApplyViews(const ModelState& state,
                const char* kind,
                const std::vector<const ScoresView*>& members,
                const ProbsSpan& out,
                int num_threads) {
  if (state.input != kind) {
    Throw(ErrorCode::kInvalidArgument,
          "the model {} takes {}, it was given {}",
          state.pipeline,
          state.input,
          kind);
  }
  if (members.empty())
    Throw(ErrorCode::kInvalidArgument, "no member to apply {} to", state.pipeline);
  CheckShape(state, members);
  const CaseReader reader = ReaderOf(state, members);
  CheckOutput(reader, out);
  if (state.spec.pooling.member >= reader.num_members()) {
    Throw(ErrorCode::kInvalidArgument,
          "the model {} takes member {}, {} members were given",
          state.pipeline,
          state.spec.pooling.member,
          reader.num_members());
  }
  if (num_threads <= 0) num_threads = AvailableThreads();
  const auto bound = state.calibrator->Bind(reader, state.spec.pooling, {.threads = num_threads});
  std::vector<TileBuffer> tiles(static_cast<size_t>(num_threads));
  std::vector<EmitBuffer> emits(static_cast<size_t>(num_threads));
  std::vector<VoxelBlock> blocks(static_cast<size_t>(num_threads));
  const int64_t num_blocks = (reader.num_voxels() + kBlockVoxels - 1) / kBlockVoxels;
  ParallelFor(num_blocks, num_threads, [&](int64_t b, int worker) {
    const auto w = static_cast<size_t>(worker);
    const int64_t first = b * kBlockVoxels;
    blocks[w].Read(reader, first, std::min(kBlockVoxels, reader.num_voxels() - first));
    for (int64_t t = 0; t < blocks[w].num_tiles(); ++t) {
      const Tile tile = blocks[w].PoolTileInto(t, state.spec.pooling, &tiles[w]);
      const TileProbs probs = emits[w].Reserve(tile.num_classes);
      EmitTile(*bound, state.calibrator->properties(), tile, probs);
      StoreTile(tile, probs.probs, out);
    }
    FinishStreaming();
  });
}

template <class View>
std::vector<const ScoresView*> Pointers(std::span<const View> members) {
  std::vector<const ScoresView*> pointers;
  for (const View& view : members) pointers.push_back(&view);
  return pointers;
}

}  // namespace

void Model::Apply(std::span<const LogitsView> members,
                  const ProbsSpan& out,
                  int num_threads) const {
  ApplyViews(*state_, "logits", Pointers(members), out, num_threads);
}
void Model::Apply(std::span<const LogProbsView> members,
                  const ProbsSpan& out,
                  int num_threads) const {
  ApplyViews(*state_, "log_probabilities", Pointers(members), out, num_threads);
}
void Model::Apply(std::span<const ProbsView> members, const ProbsSpan& out, int num_threads) const {
  ApplyViews(*state_, "probabilities", Pointers(members), out, num_threads);
}

}  // namespace segcal
