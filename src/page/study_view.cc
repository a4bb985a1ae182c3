// SPDX-License-Identifier: Apache-2.0
#include "page/study_view.h"

#include <algorithm>
#include <cmath>

#include "pipeline/spec.h"
#include "report/text.h"

namespace segcal {
namespace {

bool Counts(const Diagram& diagram) {
  return diagram.kind == DiagramKind::kReliability || diagram.kind == DiagramKind::kConfusion;
}

bool IsSameDiagram(const Diagram& a, const Diagram& b) {
  return a.kind == b.kind && a.about == b.about && a.class_index == b.class_index;
}

// Rows of reliability diagrams are known by their lower edge, those of a confusion by their place.
void AddRow(const Diagram& from, size_t row, Diagram* to) {
  const std::vector<double>& added = from.rows[row];
  auto same = to->rows.begin() + static_cast<ptrdiff_t>(std::min(row, to->rows.size()));
  const bool binned = from.kind == DiagramKind::kReliability;
  if (binned) {
    same = std::find_if(
        to->rows.begin(), to->rows.end(), [&](const auto& known) { return known[0] == added[0]; });
  }
  if (same == to->rows.end()) {
    to->rows.push_back(added);
    return;
  }
  for (size_t k = binned ? 2 : 0; k < added.size(); ++k) (*same)[k] += added[k];
}

void AddDiagram(const Diagram& diagram, std::vector<Diagram>* total) {
  const auto same = std::find_if(total->begin(), total->end(), [&](const Diagram& known) {
    return IsSameDiagram(known, diagram);
  });
  if (same == total->end()) {
    total->push_back(diagram);
    return;
  }
  if (!Counts(diagram)) return;  // the first repeat stands for all
  for (size_t row = 0; row < diagram.rows.size(); ++row) AddRow(diagram, row, &*same);
}

void SortBins(std::vector<Diagram>* diagrams) {
  for (Diagram& diagram : *diagrams) {
    if (diagram.kind != DiagramKind::kReliability) continue;
    std::sort(diagram.rows.begin(), diagram.rows.end(), [](const auto& a, const auto& b) {
      return a[0] < b[0];
    });
  }
}

std::vector<Diagram> PooledDiagrams(const Study& study, size_t pipeline) {
  std::vector<Diagram> total;
  for (const StudyRepeat& repeat : study.repeats) {
    for (const Diagram& diagram : repeat.result.pipelines[pipeline].diagrams)
      AddDiagram(diagram, &total);
  }
  SortBins(&total);
  return total;
}

// As the main paper reports it.
void UseRangeOverRepeats(const Study& study, size_t pipeline, MetricInterval* interval) {
  interval->lower = INFINITY;
  interval->upper = -INFINITY;
  for (const StudyRepeat& repeat : study.repeats) {
    const double value = FindValue(repeat.result.pipelines[pipeline].mean, interval->metric);
    interval->lower = std::min(interval->lower, value);
    interval->upper = std::max(interval->upper, value);
  }
}

std::vector<MetricInterval> ShownIntervals(const Study& study, size_t pipeline) {
  std::vector<MetricInterval> intervals = study.statistics.pipelines[pipeline].intervals;
  for (MetricInterval& interval : intervals) {
    if (interval.metric == "ace") UseRangeOverRepeats(study, pipeline, &interval);
  }
  return intervals;
}

}  // namespace

StudyView::StudyView(const Study& study) : study_(study) {
  for (size_t p = 0; p < num_pipelines(); ++p) intervals_.push_back(ShownIntervals(study, p));
  for (const MetricColumn& column : MetricColumns(first_result(), {})) {
    if (num_pipelines() > 0 && FindInterval(0, column.metric) != nullptr)
      columns_.push_back(column);
  }
  for (size_t p = 0; p < num_pipelines(); ++p) diagrams_.push_back(PooledDiagrams(study, p));
}

const MetricInterval* StudyView::FindInterval(size_t pipeline, const std::string& metric) const {
  for (const MetricInterval& interval : intervals_[pipeline]) {
    if (interval.metric == metric) return &interval;
  }
  return nullptr;
}

Goal StudyView::FindGoal(const std::string& metric) {
  for (const MetricFamilyDescription& family : ListMetrics()) {
    for (const MetricDescription& known : family.metrics) {
      if (known.name == metric) return known.goal;
    }
  }
  return Goal::kNone;
}

MetricColumn StudyView::FindColumn(const std::string& metric) const {
  for (const MetricColumn& column : columns_) {
    if (column.metric == metric) return column;
  }
  const std::vector<MetricColumn> columns = MetricColumns(first_result(), {metric});
  return columns.empty() ? MetricColumn{.metric = metric, .header = metric} : columns.front();
}

std::optional<size_t> StudyView::FindPipeline(const std::string& wanted) const {
  for (size_t p = 0; p < num_pipelines(); ++p) {
    if (name(p) == wanted) return p;
  }
  return std::nullopt;
}

size_t StudyView::chosen() const {
  return FindPipeline(study_.recommendation.pipeline).value_or(num_pipelines() - 1);
}

size_t StudyView::BaselineOf(size_t pipeline) const {
  const Pooling pooling = ParsePipeline(name(pipeline)).pooling;
  for (size_t p = 0; p < num_pipelines(); ++p) {
    if (study_.pipelines[p].baseline && ParsePipeline(name(p)).pooling == pooling) return p;
  }
  return 0;
}

std::string Shown(const MetricColumn& column, double value) {
  return FormatNumber(value * column.factor, column.decimals);
}

std::string ShownDifference(const MetricColumn& column, double value) {
  const std::string digits = Shown(column, value);
  if (std::isnan(value) || digits.starts_with("-")) return digits;
  const bool zero = digits.find_first_of("123456789") == std::string::npos;
  return zero ? digits : "+" + digits;
}

}  // namespace segcal
