// SPDX-License-Identifier: Apache-2.0
#include "pipeline/accumulators.h"

#include <algorithm>

#include "core/throw.h"

namespace segcal {
namespace {

constexpr const char* kAll = "all";

void CheckFamily(const std::string& name) {
  std::vector<std::string> known;
  for (const MetricInfo* info : Metrics()) known.emplace_back(info->name);
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  Throw(ErrorCode::kInvalidArgument,
        "unknown metric family \"{}\"; there are {}",
        name,
        fmt::join(known, ", "));
}

bool IsChosen(const MetricInfo& info, const std::vector<std::string>& families) {
  if (families.empty()) return !info.on_request;
  return std::any_of(families.begin(), families.end(), [&](const std::string& name) {
    return name == kAll || name == info.name;
  });
}

std::vector<ReliabilityRow> RowsOf(const std::vector<ReliabilityBin>& bins) {
  std::vector<ReliabilityRow> rows;
  rows.reserve(bins.size());
  for (const ReliabilityBin& bin : bins) {
    rows.push_back({.lower = bin.lower,
                    .upper = bin.upper,
                    .count = bin.count,
                    .correct = bin.correct,
                    .confidence_sum = bin.confidence_sum});
  }
  return rows;
}

CellRow RowOf(const CellTotals& cell) {
  return {.kind = cell.kind,
          .class_index = cell.class_index,
          .band = cell.band,
          .lower = cell.lower,
          .upper = cell.upper,
          .count = cell.count,
          .correct = cell.correct,
          .confidence_sum = cell.confidence_sum};
}

}  // namespace

MetricSelection SelectMetrics(const EvaluateOptions& options) {
  for (const auto& [name, given] : options.metrics) CheckFamily(name);
  for (const std::string& name : options.families) {
    if (name != kAll) CheckFamily(name);
  }
  MetricSelection selection;
  for (const MetricInfo* info : Metrics()) {
    if (!IsChosen(*info, options.families)) continue;
    const auto given = options.metrics.find(info->name);
    selection.push_back({info, given == options.metrics.end() ? OptionMap{} : given->second});
  }
  return selection;
}

bool NeedsDistance(const MetricSelection& selection) {
  return std::any_of(selection.begin(), selection.end(), [](const SelectedFamily& family) {
    return family.info->needs_distance;
  });
}

std::vector<Aggregate> AggregatesOf(const MetricSelection& selection) {
  std::vector<Aggregate> aggregates;
  for (const SelectedFamily& family : selection) {
    for (const MetricNumber& number : family.info->numbers) aggregates.push_back(number.aggregate);
  }
  return aggregates;
}

Accumulators::Accumulators(const MetricContext& context, const MetricSelection& selection) {
  for (const SelectedFamily& family : selection)
    families_.push_back(family.info->make(context, family.options));
}

void Accumulators::Add(const EvalTile& tile) {
  for (const auto& family : families_) family->Add(tile);
}

void Accumulators::Flush() {
  for (const auto& family : families_) family->Flush();
}

void Accumulators::Merge(const Accumulators& other) {
  for (size_t f = 0; f < families_.size(); ++f) families_[f]->Merge(*other.families_[f]);
}

void Accumulators::MergeCase(const Accumulators& whole_case) {
  for (size_t f = 0; f < families_.size(); ++f) families_[f]->MergeCase(*whole_case.families_[f]);
}

void Accumulators::Complete() {
  for (const auto& family : families_) family->Complete();
}

std::vector<MetricResult> Accumulators::Finish() const {
  std::vector<MetricResult> results;
  for (const auto& family : families_) {
    for (MetricValue& value : family->Finish()) {
      results.push_back(
          {.name = value.name, .value = value.value, .per_class = std::move(value.per_class)});
    }
  }
  return results;
}

std::vector<CellRow> Accumulators::Cells() const {
  std::vector<CellRow> rows;
  for (const auto& family : families_) {
    for (const CellTotals& cell : family->Cells()) rows.push_back(RowOf(cell));
  }
  return rows;
}

void Accumulators::FillDiagrams(PipelineMetrics* pipeline) const {
  for (const auto& family : families_) {
    for (const ReliabilityDiagram& diagram : family->Reliability()) {
      if (diagram.kind == "top_label") {
        pipeline->reliability = RowsOf(diagram.bins);
      } else if (diagram.class_index < 0) {
        pipeline->region_reliability.push_back(
            {.kind = diagram.kind, .class_index = -1, .rows = RowsOf(diagram.bins)});
      } else {
        pipeline->class_reliability.push_back({.kind = diagram.kind,
                                               .class_index = diagram.class_index,
                                               .rows = RowsOf(diagram.bins)});
      }
    }
    for (const RiskPoint& point : family->RiskCurve())
      pipeline->risk_coverage.push_back({point.coverage, point.risk, point.confidence});
    const std::vector<int64_t> confusion = family->Confusion();
    if (!confusion.empty()) pipeline->confusion = confusion;
  }
}

}  // namespace segcal
