// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "segcal/methods.h"
#include "segcal/study.h"
#include "segcal/tables.h"

namespace segcal {

// A study as the sections of the page see it.
class StudyView {
 public:
  explicit StudyView(const Study& study);  // must outlive this

  const Study& study() const noexcept { return study_; }
  size_t num_pipelines() const noexcept { return study_.pipelines.size(); }
  const std::string& name(size_t pipeline) const { return study_.pipelines[pipeline].pipeline; }
  const EvaluateResult& first_result() const { return study_.repeats.front().result; }
  const std::vector<std::string>& classes() const { return study_.data.classes; }

  // The metrics of the main table, as tables show them, where the study has intervals of them.
  const std::vector<MetricColumn>& columns() const noexcept { return columns_; }
  // Mean and bootstrap interval over the test cases; of ACE, which pools the voxels of a repeat,
  // the smallest and largest over repeats. Null where the study has none.
  const MetricInterval* FindInterval(size_t pipeline, const std::string& metric) const;
  static Goal FindGoal(const std::string& metric);
  // How a metric is shown; one that is not in the main table by its name.
  MetricColumn FindColumn(const std::string& metric) const;

  std::optional<size_t> FindPipeline(const std::string& name) const;
  // The recommended one, else the last.
  size_t chosen() const;
  // The uncalibrated pipeline that pools as this one does, else the first.
  size_t BaselineOf(size_t pipeline) const;

  // The diagrams of a pipeline with the counts of all repeats added up, for kinds that count.
  const std::vector<Diagram>& Diagrams(size_t pipeline) const { return diagrams_[pipeline]; }

 private:
  const Study& study_;
  std::vector<std::vector<MetricInterval>> intervals_;  // [pipeline]
  std::vector<MetricColumn> columns_;
  std::vector<std::vector<Diagram>> diagrams_;
};

// A value as a column shows it: "0.0312", "90.04"; an en dash where it is not defined.
std::string Shown(const MetricColumn& column, double value);
// With a sign, for differences.
std::string ShownDifference(const MetricColumn& column, double value);

}  // namespace segcal
