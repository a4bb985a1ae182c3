// SPDX-License-Identifier: Apache-2.0
#include "pipeline/emit_case.h"

#include <algorithm>

#include "core/parallel.h"
#include "kernels/emit.h"
#include "pipeline/emit.h"

namespace segcal {
namespace {

// What one worker needs.
struct EmitCaseWorkspace {
  VoxelBlock block;
  TileBuffer tile;
  EmitWorkspace emit;
};

}  // namespace

void EmitCase(const ModelState& state,
              const BoundCalibrator& bound,
              const CaseReader& reader,
              int threads,
              const EmittedVisitor& visit) {
  const Properties properties = state.properties();
  std::vector<EmitCaseWorkspace> workspaces(static_cast<size_t>(threads));
  const int64_t num_blocks = (reader.num_voxels() + kBlockVoxels - 1) / kBlockVoxels;
  ParallelFor(num_blocks, threads, [&](int64_t b, int worker) {
    EmitCaseWorkspace& work = workspaces[static_cast<size_t>(worker)];
    const int64_t first = b * kBlockVoxels;
    work.block.Read(reader, first, std::min(kBlockVoxels, reader.num_voxels() - first));
    for (int64_t t = 0; t < work.block.num_tiles(); ++t) {
      const Tile tile =
          work.block.PoolTileInto(t, state.spec.pooling, &work.tile, Excused::kMasked);
      const TileProbs probs = EmitForUse(bound, properties, tile, &work.emit);
      visit({tile, probs, bound}, worker);
    }
    FinishStreaming();
  });
}

}  // namespace segcal
