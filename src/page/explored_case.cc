// SPDX-License-Identifier: Apache-2.0
#include "page/explored_case.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "core/progress.h"
#include "core/quantile.h"
#include "core/throw.h"
#include "data/case_image.h"
#include "data/stream.h"
#include "kernels/scores.h"
#include "kernels/softmax.h"
#include "pipeline/compatible.h"
#include "pipeline/emit.h"
#include "pipeline/model.h"
#include "pipeline/run.h"

namespace segcal {
namespace {

constexpr int64_t kMostSlices = 24;
constexpr int64_t kLongestSide = 512;
constexpr int64_t kMostPoints = int64_t{1} << 18;
constexpr size_t kMostExploredClasses = 254;

const Pooling kMeanOfLogits;

// What a grid point is of a tile.
struct GridLane {
  int64_t lane = 0;
  size_t place = 0;
};

std::vector<GridLane> FindLanes(const SampleGrid& grid, int64_t first, int64_t count) {
  std::vector<GridLane> lanes;
  for (int64_t v = 0; v < count; ++v) {
    const int64_t place = grid.PlaceOf(first + v);
    if (place >= 0) lanes.push_back({v, static_cast<size_t>(place)});
  }
  return lanes;
}

// One model on the way through a case.
struct BoundModel {
  const ModelState* state = nullptr;
  std::unique_ptr<BoundCalibrator> bound;
  EmitWorkspace work;
  TileProbs probs;  // of the tile at hand
};

class CaseSampler {
 public:
  CaseSampler(const CaseReader& reader,
              const std::vector<Model>& models,
              const BindOptions& options,
              ExploredCase* out)
      : reader_(reader), out_(*out), bound_(models.size()) {
    for (size_t m = 0; m < models.size(); ++m) {
      bound_[m].state = &ModelAccess::State(models[m]);
      bound_[m].bound =
          bound_[m].state->calibrator->Bind(reader, bound_[m].state->spec.pooling, options);
    }
    Reserve();
  }

  void Run() {
    const int64_t slice_voxels = out_.grid.height * out_.grid.width;
    for (int64_t first = 0; first < reader_.num_voxels(); first += kBlockVoxels) {
      const int64_t count = std::min(kBlockVoxels, reader_.num_voxels() - first);
      const auto next =
          std::lower_bound(out_.grid.slices.begin(), out_.grid.slices.end(), first / slice_voxels);
      if (next == out_.grid.slices.end() || *next * slice_voxels >= first + count) continue;
      PollProgress();
      block_.Read(reader_, first, count);
      for (int64_t t = 0; t < block_.num_tiles(); ++t) SampleTile(t);
    }
  }

 private:
  void Reserve() {
    const auto n = static_cast<size_t>(out_.grid.count());
    const auto kept = static_cast<size_t>(std::min(kLeadingClasses, reader_.num_classes()));
    out_.labels.resize(n);
    out_.leading.assign(kept, std::vector<uint8_t>(n));
    if (reader_.input() == InputKind::kLogits) out_.free_energy.resize(n);
    out_.pipelines.resize(bound_.size());
    for (auto& maps : out_.pipelines) {
      maps.decision.resize(n);
      maps.predicted.resize(n);
      maps.confidence.resize(n);
      maps.probabilities.assign(kept, std::vector<uint8_t>(n));
    }
  }

  void SampleTile(int64_t index) {
    const int64_t first = block_.first() + index * kTileVoxels;
    const std::vector<GridLane> lanes =
        FindLanes(out_.grid, first, std::min(kTileVoxels, block_.first() + block_.count() - first));
    if (lanes.empty()) return;
    const Tile mean = block_.PoolTileInto(index, kMeanOfLogits, &tile_, Excused::kMasked);
    for (const GridLane& at : lanes)
      out_.labels[at.place] = static_cast<uint8_t>(mean.labels[at.lane] + 1);
    SampleFreeEnergy(mean, lanes);
    for (size_t m = 0; m < bound_.size(); ++m) SampleModel(index, lanes, m);
    for (const GridLane& at : lanes) SampleLeading(at);
  }

  void SampleFreeEnergy(const Tile& tile, const std::vector<GridLane>& lanes) {
    if (out_.free_energy.empty()) return;
    alignas(64) double free_energy[kTileVoxels];
    FreeEnergyTile(tile, free_energy);
    for (const GridLane& at : lanes)
      out_.free_energy[at.place] =
          tile.Masked(at.lane) ? NAN : static_cast<float>(free_energy[at.lane]);
  }

  void SampleModel(int64_t index, const std::vector<GridLane>& lanes, size_t m) {
    BoundModel& model = bound_[m];
    ExploredCase::PipelineMaps& maps = out_.pipelines[m];
    const Tile tile =
        block_.PoolTileInto(index, model.state->spec.pooling, &tile_, Excused::kMasked);
    model.probs = EmitForUse(*model.bound, model.state->properties(), tile, &model.work);
    alignas(64) float confidence[kTileVoxels];
    alignas(64) uint16_t predicted[kTileVoxels];
    alignas(64) float temperature[kTileVoxels];
    TopLabelTile(model.probs.probs, tile.num_classes, confidence, predicted);
    const bool divides = model.bound->Temperature(tile, temperature);
    if (divides) maps.temperature.resize(maps.confidence.size());
    for (const GridLane& at : lanes) {
      maps.decision[at.place] = static_cast<uint8_t>(tile.decision[at.lane] + 1);
      maps.predicted[at.place] = static_cast<uint8_t>(predicted[at.lane] + 1);
      maps.confidence[at.place] = ProbabilityLevel(static_cast<double>(confidence[at.lane]));
      if (divides) maps.temperature[at.place] = tile.Masked(at.lane) ? NAN : temperature[at.lane];
    }
  }

  float Probability(const BoundModel& model, int64_t c, int64_t lane) const {
    return model.probs.probs[c * kTileVoxels + lane];
  }

  void SampleLeading(const GridLane& at) {
    const int64_t num_classes = reader_.num_classes();
    std::vector<float> most(static_cast<size_t>(num_classes));
    for (int64_t c = 0; c < num_classes; ++c) {
      for (const BoundModel& model : bound_)
        most[static_cast<size_t>(c)] =
            std::max(most[static_cast<size_t>(c)], Probability(model, c, at.lane));
    }
    std::vector<int64_t> order(most.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return most[static_cast<size_t>(a)] > most[static_cast<size_t>(b)];
    });
    for (size_t k = 0; k < out_.leading.size(); ++k) {
      out_.leading[k][at.place] = static_cast<uint8_t>(order[k] + 1);
      for (size_t m = 0; m < bound_.size(); ++m)
        out_.pipelines[m].probabilities[k][at.place] =
            ProbabilityLevel(static_cast<double>(Probability(bound_[m], order[k], at.lane)));
    }
  }

  const CaseReader& reader_;
  ExploredCase& out_;
  std::vector<BoundModel> bound_;
  VoxelBlock block_;
  TileBuffer tile_;
};

// Bytes as they are; other values stretched between their 0.5 and 99.5 per cent quantiles.
void SampleImage(const CaseReader& reader, ExploredCase* out) {
  const std::unique_ptr<Array> array = reader.OpenImage();
  if (array == nullptr) return;
  const ImageValues image = ReadCaseImage(reader, *array);
  double low = 0.0;
  double high = 255.0;
  if (array->info().dtype != DType::kU8) {
    std::vector<double> values(image.values.begin(), image.values.end());
    low = Quantile(values, 0.005);
    high = Quantile(values, 0.995);
  }
  out->image_channels = image.channels >= 3 ? 3 : 1;
  out->image.resize(static_cast<size_t>(out->grid.count() * out->image_channels));
  const double scale = high > low ? 255.0 / (high - low) : 0.0;
  for (int64_t v = 0; v < reader.num_voxels(); ++v) {
    const int64_t place = out->grid.PlaceOf(v);
    for (int64_t c = 0; place >= 0 && c < out->image_channels; ++c) {
      const auto value =
          static_cast<double>(image.values[static_cast<size_t>(c * reader.num_voxels() + v)]);
      out->image[static_cast<size_t>(place * out->image_channels + c)] =
          static_cast<uint8_t>(std::lround(std::clamp((value - low) * scale, 0.0, 255.0)));
    }
  }
}

double PixelAspectOf(const std::vector<double>& spacing) {
  const size_t axes = spacing.size();
  return axes >= 2 ? spacing[axes - 2] / spacing[axes - 1] : 1.0;
}

}  // namespace

int64_t SampleGrid::PlaceOf(int64_t voxel) const noexcept {
  const int64_t x = voxel % width;
  const int64_t y = voxel / width % height;
  if (x % step != 0 || y % step != 0) return -1;
  const int64_t z = voxel / (width * height);
  const auto slice = std::lower_bound(slices.begin(), slices.end(), z);
  if (slice == slices.end() || *slice != z) return -1;
  return ((slice - slices.begin()) * rows + y / step) * columns + x / step;
}

SampleGrid MakeSampleGrid(const std::vector<int64_t>& shape) {
  SampleGrid grid;
  grid.width = shape.back();
  if (shape.size() >= 2) grid.height = shape[shape.size() - 2];
  const int64_t depth = shape.size() >= 3 ? shape[shape.size() - 3] : 1;
  const int64_t num_slices = std::min(depth, kMostSlices);
  for (int64_t i = 0; i < num_slices; ++i)
    grid.slices.push_back((2 * i + 1) * depth / (2 * num_slices));
  for (;; ++grid.step) {
    grid.rows = (grid.height + grid.step - 1) / grid.step;
    grid.columns = (grid.width + grid.step - 1) / grid.step;
    if (std::max(grid.rows, grid.columns) <= kLongestSide && grid.count() <= kMostPoints)
      return grid;
  }
}

ExploredCase ExploreCase(const Dataset& dataset,
                         size_t case_index,
                         const std::vector<Model>& models,
                         const RunOptions& run) {
  if (dataset.classes.size() > kMostExploredClasses) {
    Throw(ErrorCode::kUnsupported,
          "the case explorer shows at most {} classes, the data set has {}",
          kMostExploredClasses,
          dataset.classes.size());
  }
  Dataset single = dataset;
  single.cases = {dataset.cases[case_index]};
  std::vector<Pooling> poolings = {kMeanOfLogits};
  for (const Model& model : models) {
    CheckCompatible(model, dataset);
    poolings.push_back(ModelAccess::State(model).spec.pooling);
  }
  const CaseStream stream(single, poolings, MakeStreamOptions(run));
  const auto reader = stream.Open(0);
  ExploredCase out;
  out.id = reader->id();
  out.grid = MakeSampleGrid(reader->shape());
  out.depth = reader->num_voxels() / (out.grid.width * out.grid.height);
  out.pixel_aspect = PixelAspectOf(reader->spacing());
  CaseSampler(*reader, models, MakeBindOptions(stream), &out).Run();
  SampleImage(*reader, &out);
  return out;
}

}  // namespace segcal
