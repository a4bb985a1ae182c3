// SPDX-License-Identifier: Apache-2.0
#include "segcal/figures.h"

#include <algorithm>

#include "core/throw.h"
#include "report/before.h"
#include "report/reliability.h"
#include "segcal/tables.h"

namespace segcal {
namespace {

// What the diagram of a region is about, and its number among the pooled ones.
struct RegionTitle {
  const char* about;
  const char* title;
  const char* number;
  const char* metric;
};
constexpr RegionTitle kRegions[] = {
    {"all", "All: foreground and boundary", "pooled ECE", "ece_all"},
    {"boundary", "Boundary: within 2 voxels", "pooled ECE", "ece_boundary"},
    {"distance_0_3", "Distance 0 to 3", "pooled gap", "gap_0_3"},
    {"distance_3_7", "Distance 3 to 7", "pooled gap", "gap_3_7"},
    {"distance_7_15", "Distance 7 to 15", "pooled gap", "gap_7_15"},
    {"distance_15_inf", "Distance 15 and more", "pooled gap", "gap_15_inf"},
    {"local_avg", "Local: all patches", "mean ECE", "ece_local_avg"},
    {"local_max", "Local: worst patch of each case", "mean ECE", "ece_local_max"},
};

// A page of diagrams that can still be looked at.
constexpr size_t kMostClassPanels = 24;

// The one that figures of a single pipeline are about.
const PipelineMetrics& LastPipeline(const EvaluateResult& result) {
  if (result.pipelines.empty())
    Throw(ErrorCode::kInvalidArgument, "the result has no pipeline to draw");
  return result.pipelines.back();
}

const Diagram* FindTopLabel(const PipelineMetrics& pipeline) {
  return FindDiagram(pipeline.diagrams, DiagramKind::kReliability, "top_label");
}

// The last pipeline, what it was before, and what both are called.
struct Comparison {
  const PipelineMetrics& after;
  const PipelineMetrics* before;  // null: not evaluated
  std::string name;
  std::string before_name;

  explicit Comparison(const EvaluateResult& result)
      : after(LastPipeline(result)), before(nullptr), name(ShownPipelines(result).back()) {
    if (const auto at = FindBefore(result, result.pipelines.size() - 1)) {
      before = &result.pipelines[*at];
      before_name = ShownPipelines(result)[*at];
    }
  }

  // The bins of the same diagram before.
  std::vector<ReliabilityRow> BinsBefore(const std::string& about, int64_t class_index) const {
    const Diagram* diagram =
        before == nullptr
            ? nullptr
            : FindDiagram(before->diagrams, DiagramKind::kReliability, about, class_index);
    return diagram == nullptr ? std::vector<ReliabilityRow>() : ReliabilityRows(*diagram);
  }
  // The number after, and what it was.
  using Numbers = std::vector<std::pair<std::string, double>>;
  Numbers BothNumbers(const std::string& title, const std::string& metric, int64_t c) const {
    const auto value = [&](const PipelineMetrics& pipeline) {
      return c < 0 ? FindValue(pipeline.pooled, metric) : FindValue(pipeline.pooled, metric, c);
    };
    Numbers numbers = {{title, value(after)}};
    if (before != nullptr) numbers.emplace_back("before", value(*before));
    return numbers;
  }
  std::string Heading(const std::string& what) const {
    return name + ": " + what + (before == nullptr ? "" : ", before: " + before_name);
  }
};

// Pipelines of one pooling beside each other, after what they are compared with.
std::vector<size_t> OrderByPooling(const EvaluateResult& result) {
  std::vector<size_t> order;
  std::vector<std::string> baselines;  // in the order of the first of each pooling
  for (const PipelineMetrics& pipeline : result.pipelines) {
    std::string baseline = BaselinePipeline(pipeline.pipeline);
    if (std::find(baselines.begin(), baselines.end(), baseline) == baselines.end())
      baselines.push_back(std::move(baseline));
  }
  for (const std::string& baseline : baselines) {
    for (const bool is_baseline : {true, false}) {
      for (size_t p = 0; p < result.pipelines.size(); ++p) {
        const std::string& name = result.pipelines[p].pipeline;
        if (BaselinePipeline(name) == baseline && (name == baseline) == is_baseline)
          order.push_back(p);
      }
    }
  }
  return order;
}

// Those that the statistics compare.
std::vector<MetricColumn> ComparedColumns(const EvaluateResult& result) {
  return MetricColumns(result, result.statistics->options.metrics);
}

// What figures of an evaluation are drawn from.
struct Evaluated {
  const Dataset& dataset;
  const std::vector<Model>& models;
  const EvaluateResult& result;
  const CaseFigureOptions& options;
};

// Its file, and the picture: an empty text where the result has no numbers for it.
struct Drawing {
  const char* name;
  std::string (*draw)(const Evaluated& from);
};
constexpr Drawing kDrawings[] = {
    {"reliability.svg", [](const Evaluated& from) { return ReliabilityFigure(from.result); }},
    {"reliability_classes.svg",
     [](const Evaluated& from) { return ClassReliabilityFigure(from.result); }},
    {"reliability_regions.svg",
     [](const Evaluated& from) { return RegionReliabilityFigure(from.result); }},
    {"risk_coverage.svg", [](const Evaluated& from) { return RiskCoverageFigure(from.result); }},
    {"confusion.svg", [](const Evaluated& from) { return ConfusionFigure(from.result); }},
    {"differences.svg",
     [](const Evaluated& from) {
       return from.result.statistics ? ForestFigure(from.result, ComparedColumns(from.result))
                                     : std::string();
     }},
    {"case.svg",
     [](const Evaluated& from) {
       return CaseFigure(from.dataset, from.models, from.result, from.options);
     }},
};

}  // namespace

std::string ReliabilityFigure(const EvaluateResult& result) {
  if (FindTopLabel(LastPipeline(result)) == nullptr) return {};
  const std::vector<std::string> names = ShownPipelines(result);
  std::vector<ReliabilityPanel> panels;
  for (const size_t p : OrderByPooling(result)) {
    const PipelineMetrics& pipeline = result.pipelines[p];
    ReliabilityPanel panel{.title = names[p]};
    if (const Diagram* all = FindTopLabel(pipeline)) panel.bins = ReliabilityRows(*all);
    // A diagram pools the voxels of all cases, so its numbers do too; tables have means over cases.
    panel.numbers = {{"pooled ECE", FindValue(pipeline.pooled, "ece")},
                     {"pooled NLL", FindValue(pipeline.pooled, "nll")}};
    panels.push_back(std::move(panel));
  }
  return ReliabilitySvg(panels);
}

std::string ClassReliabilityFigure(const EvaluateResult& result) {
  const Comparison shown(result);
  std::vector<ReliabilityPanel> panels;
  for (const Diagram& diagram : shown.after.diagrams) {
    const int64_t c = diagram.class_index;
    if (diagram.about != "one_vs_rest" || c < 0 || panels.size() == kMostClassPanels) continue;
    ReliabilityPanel panel{.title = result.classes[static_cast<size_t>(c)],
                           .bins = ReliabilityRows(diagram),
                           .before = shown.BinsBefore(diagram.about, c),
                           .numbers = shown.BothNumbers("pooled ECE", "classwise_ece", c)};
    panel.numbers.emplace_back("pooled IoU", FindValue(shown.after.pooled, "miou", c));
    panels.push_back(std::move(panel));
  }
  if (panels.empty()) return {};
  return ReliabilitySvg(
      panels,
      shown.Heading("each class against the rest"),
      {.rate = "frequency", .mean = "probability", .before = "before: " + shown.before_name});
}

std::string RegionReliabilityFigure(const EvaluateResult& result) {
  const Comparison shown(result);
  std::vector<ReliabilityPanel> panels;
  for (const RegionTitle& region : kRegions) {
    const Diagram* diagram =
        FindDiagram(shown.after.diagrams, DiagramKind::kReliability, region.about);
    if (diagram == nullptr) continue;
    panels.push_back({.title = region.title,
                      .bins = ReliabilityRows(*diagram),
                      .before = shown.BinsBefore(region.about, -1),
                      .numbers = shown.BothNumbers(region.number, region.metric, -1)});
  }
  if (panels.empty()) return {};
  return ReliabilitySvg(
      panels, shown.Heading("regions"), {.before = "before: " + shown.before_name});
}

std::vector<std::string> EvaluationFigureNames() {
  std::vector<std::string> names;
  for (const Drawing& drawing : kDrawings) names.emplace_back(drawing.name);
  return names;
}

std::vector<Figure> EvaluationFigures(const Dataset& dataset,
                                      const std::vector<Model>& models,
                                      const EvaluateResult& result,
                                      const CaseFigureOptions& options) {
  std::vector<Figure> figures;
  for (const Drawing& drawing : kDrawings)
    figures.push_back({drawing.name, drawing.draw({dataset, models, result, options})});
  std::erase_if(figures, [](const Figure& figure) { return figure.svg.empty(); });
  return figures;
}

}  // namespace segcal
