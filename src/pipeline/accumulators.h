// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "metrics/metric.h"
#include "segcal/evaluate.h"

namespace segcal {

// The families to compute and their options.
struct SelectedFamily {
  const MetricInfo* info;
  OptionMap options;
};
using MetricSelection = std::vector<SelectedFamily>;

// Among the names of EvaluateOptions::families: every family.
inline constexpr const char* kAllMetrics = "all";

// In the order of the list; an unknown name, in the choice or among the options, is an Error.
MetricSelection SelectMetrics(const EvaluateOptions& options);

// Whether a selected family wants free energies; distances from the label boundary; the same in
// units of the spacing.
bool NeedsFreeEnergy(const MetricSelection& selection);
bool NeedsDistance(const MetricSelection& selection);
bool NeedsLengths(const MetricSelection& selection);

// What the metrics of one pipeline keep of every voxel of a case until the case is complete.
int64_t BytesPerVoxel(const MetricSelection& selection, int64_t num_classes);

// How each number of a selection is aggregated, in the order of Accumulators::Finish.
std::vector<Aggregate> ListAggregates(const MetricSelection& selection);

// One accumulator per selected family.
class Accumulators {
 public:
  Accumulators(const MetricContext& context, const MetricSelection& selection);

  void Add(const EvalTile& tile);
  void Flush();
  void Merge(const Accumulators& other);
  void MergeCase(const Accumulators& whole_case);
  void Pack(SumWriter* out) const { PackSums(families_, out); }
  void Unpack(SumReader* in) { UnpackSums(in, &families_); }
  void Complete();
  // Frees the sums, which are not used any more.
  void Clear() { families_.clear(); }

  std::vector<MetricValue> Finish() const;
  std::vector<Diagram> PooledBins() const;
  std::vector<CellRow> Cells() const;
  // Reliability of all voxels, of regions, of classes, then other kinds as far as they have rows.
  // Regions and classes have many bins without voxels, which are left out.
  std::vector<Diagram> Diagrams() const;

 private:
  std::vector<std::unique_ptr<MetricAccumulator>> families_;
};

}  // namespace segcal
