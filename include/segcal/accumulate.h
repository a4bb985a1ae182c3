// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/evaluate.h"
#include "segcal/export.h"
#include "segcal/metric_values.h"
#include "segcal/model.h"

namespace segcal {

// Metrics of voxels that arrive a few cases at a time: during a validation epoch, from several
// processes, or from parts of a job. Counts have 64 bits and sums do not round, so values depend
// neither on the order of cases nor on how they were spread over several of these.
class SEGCAL_EXPORT MetricSums {
 public:
  // Of what `model` (or Baseline) makes of cases like those of `like`: its classes, input and
  // background; its cases are not looked at. options.run is used by Add.
  MetricSums(const Model& model, const Dataset& like, const EvaluateOptions& options = {});
  MetricSums(const MetricSums& other);
  MetricSums(MetricSums&&) noexcept;
  MetricSums& operator=(const MetricSums& other);
  MetricSums& operator=(MetricSums&&) noexcept;
  ~MetricSums();

  // All cases of the data set, which must have labels; where it ends in an Error, nothing is added.
  void Add(const Dataset& cases);
  // Made for the same model, classes and metrics; else an Error.
  void Merge(const MetricSums& other);
  // As if nothing had been added.
  void Reset();

  // Over all voxels so far; NaN where a metric is not defined on them.
  std::vector<MetricValue> Values() const;
  std::vector<Diagram> Diagrams() const;
  int64_t cases() const noexcept;
  int64_t voxels() const noexcept;
  int64_t labelled() const noexcept;

  // The sums as bytes, and merging those of another process; bytes that are not from such sums are
  // an Error, and nothing is merged.
  std::string Pack() const;
  void MergePacked(std::string_view bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace segcal
