// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/box_plot.h"
#include "page/html.h"
#include "page/sections.h"
#include "report/reliability.h"

namespace segcal {
namespace {

// A view of the voxels, and the number that belongs to it.
struct ReliabilityView {
  std::string about;
  int64_t class_index = -1;
  std::string shown;
  std::string metric;
};

constexpr size_t kMostClassViews = 24;

std::vector<ReliabilityView> RegionViews() {
  return {{"top_label", -1, "all voxels, by confidence", "ece"},
          {"all", -1, "region All: foreground and boundary", "ece_all"},
          {"boundary", -1, "region Boundary: within 2 voxels", "ece_boundary"},
          {"distance_0_3", -1, "0 to 3 voxels from a boundary", "gap_0_3"},
          {"distance_3_7", -1, "3 to 7 voxels from a boundary", "gap_3_7"},
          {"distance_7_15", -1, "7 to 15 voxels from a boundary", "gap_7_15"},
          {"distance_15_inf", -1, "15 and more voxels from a boundary", "gap_15_inf"},
          {"local_avg", -1, "random patches", "ece_local_avg"},
          {"local_max", -1, "the worst patch of each case", "ece_local_max"}};
}

// Those that a pipeline has: all voxels, regions, then every class against the rest.
std::vector<ReliabilityView> FindViews(const StudyView& view, size_t pipeline) {
  std::vector<ReliabilityView> views = RegionViews();
  for (size_t c = 0; c < std::min(kMostClassViews, view.classes().size()); ++c) {
    views.push_back({.about = "one_vs_rest",
                     .class_index = static_cast<int64_t>(c),
                     .shown = "class " + view.classes()[c],
                     .metric = "classwise_ece"});
  }
  std::erase_if(views, [&](const ReliabilityView& v) {
    return FindDiagram(
               view.Diagrams(pipeline), DiagramKind::kReliability, v.about, v.class_index) ==
           nullptr;
  });
  return views;
}

// Mean over repeats of a pooled number.
double PooledNumber(const StudyView& view, size_t pipeline, const ReliabilityView& shown) {
  double sum = 0.0;
  for (const StudyRepeat& repeat : view.study().repeats) {
    const std::vector<MetricValue>& pooled = repeat.result.pipelines[pipeline].pooled;
    sum += shown.class_index < 0 ? FindValue(pooled, shown.metric)
                                 : FindValue(pooled, shown.metric, shown.class_index);
  }
  return sum / static_cast<double>(view.study().repeats.size());
}

// Several bins as one, so that drawings of every class of every pipeline stay small; none wider
// than a twentieth.
std::vector<ReliabilityRow> MergeBins(const std::vector<ReliabilityRow>& bins) {
  if (bins.empty()) return {};
  const double width = bins.front().upper - bins.front().lower;
  const double wide = width * std::max(1.0, std::floor(0.05 / width + 1e-9));
  std::vector<ReliabilityRow> merged;
  for (const ReliabilityRow& bin : bins) {
    const double lower = wide * std::floor(bin.lower / wide + 1e-9);
    if (merged.empty() || merged.back().lower != lower)
      merged.push_back({.lower = lower, .upper = std::min(1.0, lower + wide)});
    merged.back().count += bin.count;
    merged.back().correct += bin.correct;
    merged.back().confidence_sum += bin.confidence_sum;
  }
  return merged;
}

std::string DrawReliability(const StudyView& view, size_t pipeline, const ReliabilityView& shown) {
  const Diagram* diagram = FindDiagram(
      view.Diagrams(pipeline), DiagramKind::kReliability, shown.about, shown.class_index);
  if (diagram == nullptr) return {};
  const bool one_class = shown.class_index >= 0;
  const std::vector<ReliabilityRow> bins = ReliabilityRows(*diagram);
  const ReliabilityPanel panel{.title = view.name(pipeline),
                               .bins = shown.about == "top_label" ? bins : MergeBins(bins),
                               .numbers = {{"pooled error", PooledNumber(view, pipeline, shown)}}};
  return ReliabilitySvg({panel},
                        shown.shown,
                        one_class ? ReliabilityWords{.rate = "frequency", .mean = "probability"}
                                  : ReliabilityWords{});
}

std::vector<Choice> PipelineChoices(const StudyView& view) {
  std::vector<Choice> choices;
  for (size_t p = 0; p < view.num_pipelines(); ++p)
    choices.push_back({std::to_string(p), view.name(p)});
  return choices;
}

std::string SpreadFigure(const StudyView& view) {
  const MetricColumn column = view.FindColumn("ece");
  BoxPlot plot{.title = "ECE of single images", .x_name = "ECE of single images, lower is better"};
  for (size_t p = 0; p < view.num_pipelines(); ++p) {
    std::vector<double> values;
    for (const StudyRepeat& repeat : view.study().repeats) {
      for (const CaseMetrics& c : repeat.result.pipelines[p].cases)
        values.push_back(FindValue(c.metrics, "ece") * column.factor);
    }
    plot.rows.push_back({.name = view.name(p),
                         .five = FiveNumbers(values),
                         .strong = view.name(p) == view.study().recommendation.pipeline});
  }
  return FigureHtml(BoxPlotSvg(plot),
                    "Per-image spread: smallest, quartiles, median and largest over the test cases "
                    "of all repeats.");
}

}  // namespace

std::string ReliabilitySection(const StudyView& view) {
  const size_t after = view.chosen();
  const size_t before = view.BaselineOf(after);
  const std::vector<ReliabilityView> views = FindViews(view, after);
  if (views.empty()) return {};
  FigureStore store("store-reliability");
  std::vector<Choice> view_choices;
  for (size_t v = 0; v < views.size(); ++v) {
    view_choices.push_back({std::to_string(v), views[v].shown});
    for (size_t p = 0; p < view.num_pipelines(); ++p)
      store.Add(fmt::format("{}|{}", p, v), DrawReliability(view, p, views[v]));
  }
  const std::vector<Choice> pipelines = PipelineChoices(view);
  const std::string tools =
      "<div class=\"tools\">\n" + ChoiceHtml("view", "of", view_choices, "0") +
      ChoiceHtml("before", "before", pipelines, std::to_string(before)) +
      ChoiceHtml("after", "after", pipelines, std::to_string(after)) + "</div>\n";
  return PageSection(
      "reliability",
      "Reliability",
      Paragraph(
          "Where bars end below the diagonal, the prediction is more confident than it is "
          "right. Counts add up the test voxels of all repeats; for classes and regions a few bins "
          "are drawn as one.") +
          "<div class=\"switch\">\n" + tools + "<figure class=\"pair\">" +
          store.Slot(fmt::format("{}|0", before), "{before}|{view}") +
          store.Slot(fmt::format("{}|0", after), "{after}|{view}") + "</figure>\n</div>\n" +
          store.ToHtml() + SpreadFigure(view));
}

}  // namespace segcal
