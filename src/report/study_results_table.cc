// SPDX-License-Identifier: Apache-2.0
#include "report/study_results_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pipeline/spec.h"
#include "segcal/methods.h"
#include "segcal/study_tables.h"

namespace segcal {
namespace {

constexpr const char* kPaperMetrics[] = {"nll", "dsc", "ece", "ba_ece", "ace", "flip_rate"};

// The blocks of the main paper's table, in its order.
constexpr const char* kBlocks[] = {"Uncalibrated baselines",
                                   "Translation invariance: MS, MS_c and DC",
                                   "Translation invariance: LTS on logits and log-probabilities",
                                   "Decision preservation: CDC and CMS",
                                   "Temperatures: TS and ETS, which keep the order",
                                   "Affine on mean probabilities",
                                   "Others"};

size_t BlockOf(const std::string& pipeline) {
  const PipelineSpec spec = ParsePipeline(pipeline);
  const std::string& method = spec.stages.front();
  const bool probabilities = spec.pooling.rule == PoolRule::kMeanProbs;
  if (spec.stages.size() > 1) return 6;
  if (method == "none") return 0;
  if (!probabilities && (method == "ms" || method == "ms_c" || method == "dc")) return 1;
  if (method == "lts_raw" || method == "lts") return 2;
  if (method == "cdc" || method == "cms_ap" || method == "cms_op") return 3;
  if (method == "ts" || method == "ets") return 4;
  return method == "ms" || method == "ms_c" || method == "dc" ? 5 : 6;
}

std::vector<MetricColumn> ColumnsOf(const Study& study) {
  const EvaluateResult& result = study.repeats.front().result;
  std::vector<MetricColumn> columns;
  for (const char* metric : kPaperMetrics) {
    if (FindMetric(result.pipelines.front().mean, metric) == nullptr) continue;
    for (const MetricColumn& column : MetricColumns(result, {metric})) columns.push_back(column);
  }
  return columns;
}

const MetricDescription* DescriptionOf(const std::string& metric) {
  static const std::vector<MetricFamilyDescription> families = ListMetrics();
  for (const MetricFamilyDescription& family : families) {
    for (const MetricDescription& description : family.metrics) {
      if (description.name == metric) return &description;
    }
  }
  return nullptr;
}

Better BetterOf(const std::string& metric) {
  const MetricDescription* description = DescriptionOf(metric);
  if (description == nullptr || description->goal == Goal::kNone) return Better::kNeither;
  return description->goal == Goal::kHigh ? Better::kHigher : Better::kLower;
}

// Values of one metric, one per repeat.
std::vector<double> RepeatValues(const Study& study, size_t pipeline, const std::string& metric) {
  std::vector<double> values;
  for (const StudyRepeat& repeat : study.repeats)
    values.push_back(FindValue(repeat.result.pipelines[pipeline].mean, metric));
  return values;
}

std::string BoundsNote(const Study& study, size_t pipeline, const MetricColumn& column) {
  const auto bounds = [&](double lower, double upper) {
    return std::isnan(lower) ? ""
                             : fmt::format("[{:.{}f}, {:.{}f}]",
                                           lower * column.factor,
                                           column.decimals,
                                           upper * column.factor,
                                           column.decimals);
  };
  const MetricDescription* description = DescriptionOf(column.metric);
  if (description != nullptr && description->pooled) {
    const std::vector<double> values = RepeatValues(study, pipeline, column.metric);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return bounds(*low, *high);
  }
  for (const MetricInterval& interval : study.statistics.pipelines[pipeline].intervals) {
    if (interval.metric == column.metric) return bounds(interval.lower, interval.upper);
  }
  return "";
}

TableCell ValueCell(const Study& study,
                    size_t pipeline,
                    const MetricColumn& column,
                    bool intervals) {
  // A pipeline that cannot flip is not the best of those that can.
  const bool keeps = study.pipelines[pipeline].properties.preserves != Preserves::kNone;
  if (column.metric == "flip_rate" && keeps) return NumberCell(std::nan(""), column.decimals);
  double estimate = std::nan("");
  for (const MetricInterval& interval : study.statistics.pipelines[pipeline].intervals) {
    if (interval.metric == column.metric) estimate = interval.estimate;
  }
  TableCell cell = NumberCell(estimate * column.factor, column.decimals);
  if (intervals) cell.note = " " + BoundsNote(study, pipeline, column);
  return cell;
}

}  // namespace

Table ResultsSideBySide(const std::vector<TitledStudy>& studies, bool intervals) {
  const Study& study = *studies.front().study;
  const std::vector<MetricColumn> metrics = ColumnsOf(study);
  std::vector<TableColumn> columns = {{"pipeline", Align::kLeft, Better::kNeither}};
  for (const TitledStudy& part : studies) {
    for (const MetricColumn& column : metrics)
      columns.push_back({column.header, Align::kRight, BetterOf(column.metric), part.title});
  }
  columns.push_back({"TI", Align::kCenter, Better::kNeither});
  columns.push_back({"keeps", Align::kLeft, Better::kNeither});
  Table table(columns);
  const std::vector<std::string> names = ShownPipelines(study.repeats.front().result);
  char letter = 'a';
  for (size_t block = 0; block < std::size(kBlocks); ++block) {
    bool begun = false;
    for (size_t p = 0; p < study.pipelines.size(); ++p) {
      const StudyPipeline& pipeline = study.pipelines[p];
      if (BlockOf(pipeline.pipeline) != block) continue;
      if (!begun) {
        table.AddRule();
        table.AddHeading(fmt::format("({}) {}", letter++, kBlocks[block]));
      }
      begun = true;
      std::vector<TableCell> row = {names[p]};
      for (const TitledStudy& part : studies) {
        for (const MetricColumn& column : metrics)
          row.push_back(ValueCell(*part.study, p, column, intervals));
      }
      row.emplace_back(pipeline.properties.translation_invariant ? "yes" : "no");
      row.emplace_back(Name(pipeline.properties.preserves));
      table.AddRow(std::move(row));
    }
  }
  table.BoldBest();
  return table;
}

Table ResultsTable(const Study& study, bool intervals) {
  return ResultsSideBySide({{"", &study}}, intervals);
}

}  // namespace segcal
