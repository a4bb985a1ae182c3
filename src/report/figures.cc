// SPDX-License-Identifier: Apache-2.0
#include "segcal/figures.h"

#include "core/throw.h"
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

std::string LastName(const EvaluateResult& result) { return ShownPipelines(result).back(); }

}  // namespace

std::string ReliabilityFigure(const EvaluateResult& result) {
  if (FindTopLabel(LastPipeline(result)) == nullptr) return {};
  const std::vector<std::string> names = ShownPipelines(result);
  std::vector<ReliabilityPanel> panels;
  for (size_t p = 0; p < names.size(); ++p) {
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
  const PipelineMetrics& pipeline = LastPipeline(result);
  std::vector<ReliabilityPanel> panels;
  for (const Diagram& diagram : pipeline.diagrams) {
    const int64_t c = diagram.class_index;
    if (diagram.about != "one_vs_rest" || c < 0 || panels.size() == kMostClassPanels) continue;
    panels.push_back({.title = result.classes[static_cast<size_t>(c)],
                      .bins = ReliabilityRows(diagram),
                      .numbers = {{"pooled ECE", FindValue(pipeline.pooled, "classwise_ece", c)},
                                  {"pooled IoU", FindValue(pipeline.pooled, "miou", c)}}});
  }
  if (panels.empty()) return {};
  return ReliabilitySvg(panels,
                        LastName(result) + ": each class against the rest",
                        {.rate = "frequency", .mean = "probability"});
}

std::string RegionReliabilityFigure(const EvaluateResult& result) {
  const PipelineMetrics& pipeline = LastPipeline(result);
  std::vector<ReliabilityPanel> panels;
  for (const RegionTitle& region : kRegions) {
    const Diagram* diagram =
        FindDiagram(pipeline.diagrams, DiagramKind::kReliability, region.about);
    if (diagram == nullptr) continue;
    panels.push_back({.title = region.title,
                      .bins = ReliabilityRows(*diagram),
                      .numbers = {{region.number, FindValue(pipeline.pooled, region.metric)}}});
  }
  return panels.empty() ? std::string() : ReliabilitySvg(panels, LastName(result) + ": regions");
}

std::vector<Figure> EvaluationFigures(const Dataset& dataset,
                                      const std::vector<Model>& models,
                                      const EvaluateResult& result,
                                      const CaseFigureOptions& options) {
  std::vector<Figure> figures = {
      {"reliability.svg", ReliabilityFigure(result)},
      {"reliability_classes.svg", ClassReliabilityFigure(result)},
      {"reliability_regions.svg", RegionReliabilityFigure(result)},
      {"case.svg", CaseFigure(dataset, models, result, options)},
  };
  std::erase_if(figures, [](const Figure& figure) { return figure.svg.empty(); });
  return figures;
}

}  // namespace segcal
