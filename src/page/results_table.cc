// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "page/html.h"
#include "page/sections.h"

namespace segcal {
namespace {

// For sorting: every digit, empty where it is not defined.
std::string Exact(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

const char* Arrow(Goal goal) {
  return goal == Goal::kLow ? " ↓" : (goal == Goal::kHigh ? " ↑" : "");
}

// Whether a value is as good as any other, as far as a reader can see.
bool IsBest(const StudyView& view, const MetricColumn& column, double value) {
  const Goal goal = StudyView::FindGoal(column.metric);
  if (std::isnan(value) || goal == Goal::kNone || goal == Goal::kZero) return false;
  for (size_t p = 0; p < view.num_pipelines(); ++p) {
    const double other = view.FindInterval(p, column.metric)->estimate;
    const bool better = goal == Goal::kLow ? other < value : other > value;
    if (better && Shown(column, other) != Shown(column, value)) return false;
  }
  return true;
}

std::string Cell(const StudyView& view, size_t pipeline, const MetricColumn& column) {
  const MetricInterval* interval = view.FindInterval(pipeline, column.metric);
  if (interval == nullptr) return "<td>–</td>";
  const std::string bounds = std::isnan(interval->lower)
                                 ? ""
                                 : fmt::format("<span class=\"interval\">[{}, {}]</span>",
                                               Shown(column, interval->lower),
                                               Shown(column, interval->upper));
  return fmt::format(
      "<td data-value=\"{}\" data-lower=\"{}\" data-upper=\"{}\"{}><span "
      "class=\"value\">{}</span>{}</td>",
      Exact(interval->estimate),
      Exact(interval->lower),
      Exact(interval->upper),
      IsBest(view, column, interval->estimate) ? " class=\"best\"" : "",
      Shown(column, interval->estimate),
      bounds);
}

std::string RankCell(double rank) {
  return fmt::format("<td data-value=\"{}\"><span class=\"value\">{}</span></td>",
                     Exact(rank),
                     std::isfinite(rank) ? fmt::format("{:.1f}", rank) : "–");
}

std::string Keeps(const StudyPipeline& pipeline) {
  return pipeline.properties.preserves == Preserves::kNone ? "–"
                                                           : Name(pipeline.properties.preserves);
}

std::string Row(const StudyView& view, size_t p) {
  const StudyPipeline& pipeline = view.study().pipelines[p];
  std::string cells = fmt::format(
      "<th scope=\"row\" data-value=\"{2}\"><button type=\"button\" class=\"pin\" "
      "aria-pressed=\"false\" "
      "title=\"Pin for comparison\"><code>{1}</code></button></th><td class=\"text\" "
      "data-value=\"{0}\">{3}</td>"
      "<td class=\"text\" data-value=\"{4}\">{5}</td><td data-value=\"{6}\">{6}</td>",
      static_cast<int>(pipeline.properties.preserves),
      EscapeHtml(pipeline.pipeline),
      p,
      EscapeHtml(Keeps(pipeline)),
      pipeline.properties.translation_invariant ? 1 : 0,
      pipeline.properties.translation_invariant ? "yes" : "no",
      pipeline.parameters.identifiable);
  for (const MetricColumn& column : view.columns()) cells += Cell(view, p, column);
  cells += RankCell(view.study().statistics.pipelines[p].sum_rank);
  return fmt::format(
      "<tr data-pipeline=\"{}\" data-keeps=\"{}\" data-invariant=\"{}\"{}>{}</tr>\n",
      EscapeHtml(pipeline.pipeline),
      Name(pipeline.properties.preserves),
      pipeline.properties.translation_invariant ? 1 : 0,
      p == view.FindPipeline(view.study().recommendation.pipeline) ? " class=\"chosen\"" : "",
      cells);
}

std::string Head(const std::string& name,
                 const std::string& shown,
                 const std::string& hint,
                 const char* kind) {
  return fmt::format(
      "<th scope=\"col\" aria-sort=\"none\" data-column=\"{}\"{}><button type=\"button\" "
      "title=\"{}\">{}</button></th>",
      EscapeHtml(name),
      kind,
      EscapeHtml(hint),
      EscapeHtml(shown));
}

std::string Summary(const std::string& metric) {
  for (const MetricFamilyDescription& family : ListMetrics()) {
    for (const MetricDescription& known : family.metrics) {
      if (known.name == metric) return known.summary;
    }
  }
  return metric;
}

std::string HeadRow(const StudyView& view) {
  std::string cells = Head("pipeline", "pipeline", "in the order of the study", "") +
                      Head("keeps",
                           "keeps",
                           "what it never changes: the winning class, or the order of all",
                           " class=\"text\"") +
                      Head("invariant",
                           "offsets",
                           "whether the same offset on all logits of a voxel changes nothing",
                           " class=\"text\"") +
                      Head("parameters", "parameters", "identifiable numbers a fit sets", "");
  for (const MetricColumn& column : view.columns()) {
    cells += Head(column.metric,
                  column.header + Arrow(StudyView::FindGoal(column.metric)),
                  Summary(column.metric),
                  "");
  }
  return "<tr>" + cells + Head("sum_rank", "rank ↓", "sum of the ranks by every metric", "") +
         "</tr>\n";
}

constexpr const char* kTools = R"(<div class="tools">
<label class="choice"><span>find</span><input type="search" data-filter="text" placeholder="ts, cms, (p) …"></label>
<label class="check"><input type="checkbox" data-filter="keeps"> keeps the segmentation</label>
<label class="check"><input type="checkbox" data-filter="invariant"> ignores offsets</label>
<label class="check"><input type="checkbox" data-filter="intervals" checked> intervals</label>
<span class="count" role="status"></span>
</div>
)";

}  // namespace

std::string ResultsSection(const StudyView& view) {
  std::string rows;
  for (size_t p = 0; p < view.num_pipelines(); ++p) rows += Row(view, p);
  const Statistics& statistics = view.study().statistics;
  const std::string caption = fmt::format(
      "Test cases: mean over {} {}s of {} repeat{} with intervals of {:.0f} %, ACE with its "
      "range over repeats. Best values are bold. Press a heading to sort, a pipeline to pin it.",
      statistics.units,
      statistics.unit,
      statistics.repeats,
      statistics.repeats == 1 ? "" : "s",
      100.0 * statistics.options.level);
  return PageSection(
      "results",
      "All pipelines",
      fmt::format("{}<div id=\"pinned\" class=\"scroll\" aria-live=\"polite\" "
                  "hidden></div>\n<div class=\"scroll\" tabindex=\"0\"><table "
                  "id=\"results-table\"><caption><span>{}</span></caption>\n<thead>{}</"
                  "thead>\n<tbody>\n{}</tbody></table></div>\n",
                  kTools,
                  EscapeHtml(caption),
                  HeadRow(view),
                  rows));
}

}  // namespace segcal
