// SPDX-License-Identifier: Apache-2.0
#include "pipeline/case_maps.h"

#include <algorithm>
#include <cmath>

#include "kernels/scores.h"
#include "kernels/softmax.h"
#include "pipeline/compatible.h"
#include "pipeline/emit.h"
#include "pipeline/model.h"
#include "pipeline/run.h"

namespace segcal {
namespace {

void MapTile(const Tile& tile,
             const ModelState& model,
             const BoundCalibrator& bound,
             EmitBuffer* emit,
             VoxelMaps* maps) {
  const TileProbs probs = emit->Reserve(tile.num_classes);
  EmitTile(bound, model.calibrator->properties(), tile, probs);
  alignas(64) float confidence[kTileVoxels];
  alignas(64) uint16_t predicted[kTileVoxels];
  TopLabelTile(probs.probs, tile.num_classes, confidence, predicted);
  std::copy_n(confidence, tile.count, maps->confidence.begin() + tile.first_voxel);
  std::copy_n(predicted, tile.count, maps->predicted.begin() + tile.first_voxel);
  if (maps->temperature.empty()) return;
  alignas(64) float temperature[kTileVoxels];
  bound.Temperature(tile, temperature);
  for (int64_t v = 0; v < tile.count; ++v) {
    maps->temperature[static_cast<size_t>(tile.first_voxel + v)] =
        tile.Masked(v) ? NAN : temperature[v];
  }
}

// Room for a temperature per voxel where the calibrator divides by one.
void ReserveTemperature(const CaseReader& reader, const BoundCalibrator& bound, VoxelMaps* maps) {
  alignas(64) float temperature[kTileVoxels];
  if (bound.Temperature({.num_classes = reader.num_classes()}, temperature))
    maps->temperature.resize(static_cast<size_t>(reader.num_voxels()));
}

CaseMaps EmptyMaps(const CaseReader& reader, size_t num_models) {
  const auto n = static_cast<size_t>(reader.num_voxels());
  CaseMaps maps;
  maps.id = reader.id();
  maps.shape = reader.shape();
  maps.spacing = reader.spacing();
  maps.labels.resize(n);
  maps.free_energy.resize(n);
  maps.models.resize(num_models);
  for (VoxelMaps& m : maps.models) {
    m.predicted.resize(n);
    m.confidence.resize(n);
  }
  return maps;
}

}  // namespace

CaseMaps MapCase(const Dataset& dataset,
                 int64_t case_index,
                 const std::vector<Model>& models,
                 const RunOptions& run) {
  Dataset single = dataset;
  single.cases = {dataset.cases[static_cast<size_t>(case_index)]};
  std::vector<Pooling> poolings;
  for (const Model& model : models) {
    CheckCompatible(model, dataset);
    poolings.push_back(model.state().spec.pooling);
  }
  StreamOptions options = StreamOptionsOf(run);
  options.progress = {};
  const CaseStream stream(single, poolings, options);
  const auto reader = stream.Open(0);
  CaseMaps maps = EmptyMaps(*reader, models.size());
  std::vector<std::unique_ptr<BoundCalibrator>> bound;
  bound.reserve(models.size());
  for (const Model& model : models) {
    const ModelState& state = model.state();
    bound.push_back(state.calibrator->Bind(*reader, state.spec.pooling, BindOptionsOf(stream)));
    ReserveTemperature(*reader, *bound.back(), &maps.models[bound.size() - 1]);
  }
  std::vector<TileBuffer> tiles(static_cast<size_t>(stream.num_workers()));
  std::vector<EmitBuffer> emits(tiles.size());
  stream.ForEachBlock("picture", [&](VoxelBlock& block, int64_t, int worker) {
    const auto w = static_cast<size_t>(worker);
    std::copy(block.labels().begin(), block.labels().end(), maps.labels.begin() + block.first());
    for (int64_t t = 0; t < block.num_tiles(); ++t) {
      for (size_t m = 0; m < models.size(); ++m) {
        const Tile tile = block.PoolTileInto(t, poolings[m], &tiles[w]);
        MapTile(tile, models[m].state(), *bound[m], &emits[w], &maps.models[m]);
        if (m > 0) continue;
        alignas(64) double free_energy[kTileVoxels];
        FreeEnergyTile(tile, free_energy);
        for (int64_t v = 0; v < tile.count; ++v) {
          maps.free_energy[static_cast<size_t>(tile.first_voxel + v)] =
              tile.Masked(v) ? NAN : static_cast<float>(free_energy[v]);
        }
      }
    }
  });
  return maps;
}

}  // namespace segcal
