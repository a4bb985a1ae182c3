// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/options.h"
#include "core/sums.h"
#include "kernels/tile.h"
#include "measures/diagram.h"
#include "measures/ranked.h"
#include "segcal/methods.h"
#include "spatial/grid.h"

namespace segcal {

// What metrics are computed from: the emitted values of one tile and what was known before.
// Voxels with label kNoLabel take no part. Lanes past the end of the case are such voxels.
struct EvalTile {
  int64_t num_classes = 0;
  const float* probs = nullptr;         // [num_classes][kTileVoxels], emitted
  const float* log_label = nullptr;     // [kTileVoxels], emitted log q_y
  const float* confidence = nullptr;    // [kTileVoxels], max_c q_c
  const uint16_t* predicted = nullptr;  // [kTileVoxels], argmax q, ties to the lowest class
  const uint16_t* decision = nullptr;   // [kTileVoxels], of the uncalibrated pooled prediction
  const int32_t* labels = nullptr;      // [kTileVoxels]
  // [kTileVoxels], F of the pooled logits; null unless MetricInfo::needs_free_energy.
  const double* free_energy = nullptr;
  int64_t first_voxel = 0;  // within the case, in C order
  // [kTileVoxels]: squared distance in voxels to the nearest label boundary; null unless the family
  // needs it (MetricInfo::needs_distance).
  const int32_t* squared_distance = nullptr;
  // [kTileVoxels]: the same in the units of the spacing; null unless MetricInfo::needs_lengths.
  const double* squared_length = nullptr;
};

// What a metric may need to know about the data set.
struct MetricContext {
  int64_t num_classes = 0;
  int64_t background = -1;  // -1: none
  // Where the voxels of the case lie; a single voxel where many cases are pooled.
  VoxelGrid grid = {};
};

// A family of metrics that share sums. Add, then Merge in any order, then Finish: the result does
// not depend on how the blocks of tiles were spread over accumulators (64-bit counts, ExactSum).
class MetricAccumulator {
 public:
  virtual ~MetricAccumulator() = default;
  virtual void Add(const EvalTile& tile) = 0;
  // Tiles are over for now: moves pending double sums into order-free ones. Called at the end of
  // each fixed block of tiles, and before Merge or Finish.
  virtual void Flush() {}
  // Same family and options, both flushed; `other` may be *this.
  virtual void Merge(const MetricAccumulator& other) = 0;
  // The sums as bytes that stay the same whatever the order of merges, and back into an accumulator
  // made alike (core/sums.h). Of a case before Complete(), or of many.
  virtual void Pack(SumWriter* out) const = 0;
  virtual void Unpack(SumReader* in) = 0;
  // Adds a case that is complete to the totals of many. What keeps every voxel of a case may keep
  // less here, and says so in its page.
  virtual void MergeCase(const MetricAccumulator& whole_case) { Merge(whole_case); }
  // Nothing will be added or merged into this any more: the place to prepare what the functions
  // below share.
  virtual void Complete() {}
  // One value per entry of MetricInfo::numbers, in that order.
  virtual std::vector<MetricValue> Finish() const = 0;
  virtual std::vector<Diagram> Diagrams() const { return {}; }
  // For every number that is pooled (Aggregate::kPooled), the bins whose sums over cases give it,
  // about that number. An interval of it needs no more.
  virtual std::vector<Diagram> PooledBins() const { return {}; }
  // Sufficient statistics of binned metrics.
  virtual std::vector<CellRow> Cells() const { return {}; }
};

// Merges, packs and unpacks by the fields that the accumulator `Own` lists (core/sums.h).
template <class Own>
class ListedSums : public MetricAccumulator {
 public:
  void Merge(const MetricAccumulator& other) override {
    MergeSums(static_cast<const Own&>(other), static_cast<Own*>(this));
  }
  void Pack(SumWriter* out) const override { PackSums(static_cast<const Own&>(*this), out); }
  void Unpack(SumReader* in) override { UnpackSums(in, static_cast<Own*>(this)); }
};

// How per-case values become one number.
enum class Aggregate { kMeanOverCases, kPooled };

// What a number is computed from beside the labels. Pipelines that declare to keep it cannot
// differ.
enum class DependsOn {
  kProbabilities,
  kPredictedClass,  // the same for pipelines that keep the decision of one pooling
  kFlips,           // none for pipelines that keep the decision, of whatever pooling
};

// Emitted probabilities are rounded, so a confidence may pass 1 by two units in the last place of
// float32, and a gap with it.
inline constexpr double kJustAboveOne = 1.0 + 0x1p-22;

// Describes one metric of a family, for tables and checks.
struct MetricNumber {
  const char* name;
  const char* summary;
  Goal goal;
  Aggregate aggregate;
  double lowest;  // every defined value lies in [lowest, highest]
  double highest;
  // Of a pooled number: its value from the sums of PooledBins().
  double (*of_bins)(const std::vector<Bin>& bins) = nullptr;
  DependsOn depends_on = DependsOn::kProbabilities;
};

struct MetricInfo {
  const char* name;       // of the family
  const char* reference;  // key in docs/references.md
  std::span<const MetricNumber> numbers;
  OptionMap (*defaults)();  // the options make() knows, with their default values
  std::unique_ptr<MetricAccumulator> (*make)(const MetricContext& context,
                                             const OptionMap& options);
  // Keeps so much per voxel, or takes so long, that it is computed only when asked for.
  bool on_request = false;
  // Wants EvalTile::free_energy.
  bool needs_free_energy = false;
  // Wants EvalTile::squared_distance, which takes the labels of the whole case.
  bool needs_distance = false;
  // Whether it wants EvalTile::squared_length too, with these options; null: never.
  bool (*needs_lengths)(const OptionMap& options) = nullptr;
  // What it keeps of every voxel of a case until the case is complete; null: sums alone.
  int64_t (*bytes_per_voxel)(int64_t num_classes) = nullptr;
};

// All families, in the order of list.cc.
const std::vector<const MetricInfo*>& Metrics();

// The number of that name, of whatever family; null if there is none.
const MetricNumber* FindNumber(const std::string& name);

}  // namespace segcal
