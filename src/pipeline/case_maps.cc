// SPDX-License-Identifier: Apache-2.0
#include "pipeline/case_maps.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/progress.h"
#include "data/case_labels.h"
#include "kernels/scores.h"
#include "kernels/softmax.h"
#include "pipeline/compatible.h"
#include "pipeline/emit.h"
#include "pipeline/model.h"
#include "pipeline/run.h"
#include "spatial/local_error.h"

namespace segcal {
namespace {

// Neighbouring slices [begin, end) of a case, and what is known about their voxels.
struct Slab {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t slice_voxels = 0;

  struct ModelMaps {
    std::vector<uint16_t> decision;
    std::vector<uint16_t> predicted;
    std::vector<float> confidence;
    std::vector<float> temperature;  // empty: the calibrator does not divide by one
  };
  std::vector<int32_t> labels;
  std::vector<ModelMaps> models;
  std::vector<float> free_energy;

  int64_t first_voxel() const noexcept { return begin * slice_voxels; }
  int64_t num_voxels() const noexcept { return (end - begin) * slice_voxels; }
};

CaseMaps EmptyMaps(const CaseReader& reader) {
  CaseMaps maps;
  maps.id = reader.id();
  maps.shape = reader.shape();
  maps.spacing = reader.spacing();
  const size_t axes = maps.shape.size();
  maps.width = maps.shape.back();
  if (axes >= 2) maps.height = maps.shape[axes - 2];
  maps.depth = reader.num_voxels() / (maps.width * maps.height);
  // A sixth of a small picture, so that there is something local to see; 17 voxels fill ten bins.
  maps.radius = std::clamp<int64_t>(std::max(maps.width, maps.height) / 12, 2, 8);
  return maps;
}

int64_t MostInformativeSlice(const CaseReader& reader, const CaseMaps& maps, int64_t background) {
  const auto off_middle = [&](int64_t slice) { return std::abs(2 * slice - (maps.depth - 1)); };
  const int64_t slice_voxels = maps.width * maps.height;
  std::vector<int32_t> labels(static_cast<size_t>(slice_voxels));
  std::vector<uint8_t> masked;
  int64_t best = 0;
  int64_t most = -1;
  for (int64_t z = 0; z < maps.depth; ++z) {
    PollProgress();
    ReadCaseLabels(reader, z * slice_voxels, labels, &masked);
    const int64_t count = std::count_if(labels.begin(), labels.end(), [&](int32_t label) {
      return label != kNoLabel && label != background;
    });
    if (count > most || (count == most && off_middle(z) < off_middle(best))) {
      best = z;
      most = count;
    }
  }
  return best;
}

Slab SlabAround(const CaseMaps& maps, size_t num_models) {
  Slab slab;
  slab.begin = std::max<int64_t>(0, maps.slice - maps.radius);
  slab.end = std::min(maps.depth, maps.slice + maps.radius + 1);
  slab.slice_voxels = maps.width * maps.height;
  const auto n = static_cast<size_t>(slab.num_voxels());
  slab.labels.resize(n);
  slab.free_energy.resize(n);
  slab.models.resize(num_models);
  for (Slab::ModelMaps& m : slab.models) {
    m.decision.resize(n);
    m.predicted.resize(n);
    m.confidence.resize(n);
  }
  return slab;
}

// What the free energy of a picture is of, whatever the pipelines pool.
const Pooling kMeanLogits;

// The part of a tile that lies in a slab.
struct Overlap {
  int64_t lane = 0;   // first in the tile
  int64_t voxel = 0;  // first in the slab
  int64_t count = 0;
};
Overlap Intersect(const Tile& tile, const Slab& slab) {
  const int64_t first = std::max(tile.first_voxel, slab.first_voxel());
  const int64_t end =
      std::min(tile.first_voxel + tile.count, slab.first_voxel() + slab.num_voxels());
  return {.lane = first - tile.first_voxel,
          .voxel = first - slab.first_voxel(),
          .count = std::max<int64_t>(0, end - first)};
}

// Writes what one model says about a tile.
void MapTile(const Tile& tile,
             const ModelState& model,
             const BoundCalibrator& bound,
             const Overlap& part,
             EmitBuffer* emit,
             Slab::ModelMaps* maps) {
  const TileProbs probs = emit->Reserve(tile.num_classes);
  EmitTile(bound, model.calibrator->properties(), tile, probs);
  alignas(64) float confidence[kTileVoxels];
  alignas(64) uint16_t predicted[kTileVoxels];
  TopLabelTile(probs.probs, tile.num_classes, confidence, predicted);
  std::copy_n(confidence + part.lane, part.count, maps->confidence.begin() + part.voxel);
  std::copy_n(predicted + part.lane, part.count, maps->predicted.begin() + part.voxel);
  std::copy_n(tile.decision + part.lane, part.count, maps->decision.begin() + part.voxel);
  alignas(64) float temperature[kTileVoxels];
  if (!bound.Temperature(tile, temperature)) return;
  maps->temperature.resize(maps->confidence.size());
  for (int64_t i = 0; i < part.count; ++i) {
    maps->temperature[static_cast<size_t>(part.voxel + i)] =
        tile.Masked(part.lane + i) ? NAN : temperature[part.lane + i];
  }
}

void MapFreeEnergy(const Tile& tile, const Overlap& part, Slab* slab) {
  alignas(64) double free_energy[kTileVoxels];
  FreeEnergyTile(tile, free_energy);
  for (int64_t i = 0; i < part.count; ++i) {
    slab->free_energy[static_cast<size_t>(part.voxel + i)] =
        tile.Masked(part.lane + i) ? NAN : static_cast<float>(free_energy[part.lane + i]);
  }
}

// Reads the blocks that hold voxels of the slab.
void FillSlab(const CaseReader& reader,
              const std::vector<Model>& models,
              const BindOptions& options,
              Slab* slab) {
  std::vector<std::unique_ptr<BoundCalibrator>> bound;
  bound.reserve(models.size());
  for (size_t m = 0; m < models.size(); ++m) {
    const ModelState& state = ModelAccess::State(models[m]);
    bound.push_back(state.calibrator->Bind(reader, state.spec.pooling, options));
  }
  VoxelBlock block;
  TileBuffer buffer;
  EmitBuffer emit;
  const int64_t end = slab->first_voxel() + slab->num_voxels();
  for (int64_t first = slab->first_voxel() / kBlockVoxels * kBlockVoxels; first < end;
       first += kBlockVoxels) {
    PollProgress();
    block.Read(reader, first, std::min(kBlockVoxels, reader.num_voxels() - first));
    for (int64_t t = 0; t < block.num_tiles(); ++t) {
      const Tile mean = block.PoolTileInto(t, kMeanLogits, &buffer);
      const Overlap part = Intersect(mean, *slab);
      if (part.count == 0) continue;
      std::copy_n(mean.labels + part.lane, part.count, slab->labels.begin() + part.voxel);
      MapFreeEnergy(mean, part, slab);
      for (size_t m = 0; m < models.size(); ++m) {
        const Tile tile =
            block.PoolTileInto(t, ModelAccess::State(models[m]).spec.pooling, &buffer);
        MapTile(tile, ModelAccess::State(models[m]), *bound[m], part, &emit, &slab->models[m]);
      }
    }
  }
}

// The slice of an array of the slab.
template <class To, class From>
std::vector<To> Cut(const std::vector<From>& values, const Slab& slab, int64_t slice) {
  const auto first = values.begin() + (slice - slab.begin) * slab.slice_voxels;
  return {first, first + slab.slice_voxels};
}

std::vector<float> CutIfAny(const std::vector<float>& values, const Slab& slab, int64_t slice) {
  return values.empty() ? values : Cut<float>(values, slab, slice);
}

std::vector<float> LocalErrors(const CaseMaps& maps,
                               const Slab& slab,
                               const Slab::ModelMaps& model,
                               int num_threads) {
  const std::vector<int64_t> shape = {slab.end - slab.begin, maps.height, maps.width};
  std::vector<float> upper;
  upper.reserve(kMapBins);
  for (int64_t k = 1; k <= kMapBins; ++k)
    upper.push_back(static_cast<float>(static_cast<double>(k) / static_cast<double>(kMapBins)));
  return Cut<float>(LocalCalibrationError(MakeGrid(shape),
                                          model.confidence,
                                          model.predicted,
                                          slab.labels,
                                          {.upper = upper, .closed_above = true},
                                          maps.radius,
                                          num_threads),
                    slab,
                    maps.slice);
}

}  // namespace

CaseMaps MapCase(const Dataset& dataset,
                 int64_t case_index,
                 const std::vector<Model>& models,
                 const RunOptions& run) {
  const ProgressScope scope(run.progress);
  Dataset single = dataset;
  single.cases = {dataset.cases[static_cast<size_t>(case_index)]};
  std::vector<Pooling> poolings = {kMeanLogits};
  for (const Model& model : models) {
    CheckCompatible(model, dataset);
    poolings.push_back(ModelAccess::State(model).spec.pooling);
  }
  const CaseStream stream(single, poolings, MakeStreamOptions(run));
  const auto reader = stream.Open(0);
  CaseMaps maps = EmptyMaps(*reader);
  maps.slice = MostInformativeSlice(*reader, maps, dataset.background.value_or(-1));
  Slab slab = SlabAround(maps, models.size());
  FillSlab(*reader, models, MakeBindOptions(stream), &slab);
  maps.labels = Cut<int32_t>(slab.labels, slab, maps.slice);
  maps.free_energy = Cut<float>(slab.free_energy, slab, maps.slice);
  for (const Slab::ModelMaps& model : slab.models) {
    maps.models.push_back({.decision = Cut<int32_t>(model.decision, slab, maps.slice),
                           .predicted = Cut<int32_t>(model.predicted, slab, maps.slice),
                           .confidence = Cut<float>(model.confidence, slab, maps.slice),
                           .temperature = CutIfAny(model.temperature, slab, maps.slice),
                           .local_error = LocalErrors(maps, slab, model, stream.num_workers())});
  }
  return maps;
}

}  // namespace segcal
