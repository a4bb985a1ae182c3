// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "page/html.h"
#include "page/sections.h"

namespace segcal {
namespace {

std::string PropertiesText(const StudyPipeline& pipeline) {
  std::string text;
  switch (pipeline.properties.preserves) {
    case Preserves::kNone:
      text = "It may change the segmentation";
      break;
    case Preserves::kArgmax:
      text = "It never changes the segmentation";
      break;
    case Preserves::kOrder:
      text = "It never changes the segmentation nor the order of any two classes";
      break;
  }
  text += pipeline.properties.translation_invariant
              ? ", and offsets added to all logits of a voxel do not matter to it."
              : ", and offsets added to all logits of a voxel do matter to it.";
  return text;
}

std::string IntervalText(const MetricColumn& column, const MetricInterval& interval) {
  if (std::isnan(interval.lower)) return "";
  return fmt::format("[{}, {}]", Shown(column, interval.lower), Shown(column, interval.upper));
}

// One number before and after.
std::string Card(const StudyView& view, const MetricColumn& column) {
  const size_t after = view.chosen();
  const size_t before = view.BaselineOf(after);
  const MetricInterval* from = view.FindInterval(before, column.metric);
  const MetricInterval* to = view.FindInterval(after, column.metric);
  if (from == nullptr || to == nullptr) return {};
  const std::string change = before == after ? ""
                                             : fmt::format("<span class=\"from\">{} →</span> ",
                                                           Shown(column, from->estimate));
  return fmt::format(
      "<div class=\"card\" data-metric=\"{}\"><span class=\"name\">{}</span><span "
      "class=\"value\">{}<b>{}</b></span>"
      "<span class=\"interval\">{}</span></div>\n",
      EscapeHtml(column.metric),
      EscapeHtml(column.header),
      change,
      Shown(column, to->estimate),
      IntervalText(column, *to));
}

std::string Cards(const StudyView& view) {
  std::string cards;
  for (const char* metric : {"nll", "ece", "ace", "ba_ece", "dsc", "flip_rate"}) {
    for (const MetricColumn& column : view.columns()) {
      if (column.metric == metric) cards += Card(view, column);
    }
  }
  return "<div class=\"cards\">\n" + cards + "</div>\n";
}

std::string CandidateRows(const Recommendation& recommendation) {
  std::string rows;
  for (const Candidate& candidate : recommendation.candidates) {
    const bool out = !candidate.excluded.empty();
    const bool is_chosen = candidate.pipeline == recommendation.pipeline;
    const std::string why = is_chosen ? "recommended"
                            : out     ? candidate.excluded
                            : candidate.within
                                ? "as good as the best, as far as these cases can tell"
                                : "worse than the best by more than one standard error";
    const bool known = std::isfinite(candidate.score);
    rows += fmt::format(
        "<tr{}><th scope=\"row\"><code>{}</code></th><td>{}</td><td>{}</td><td "
        "class=\"text\">{}</td></tr>\n",
        is_chosen ? " class=\"chosen\"" : "",
        EscapeHtml(candidate.pipeline),
        known ? fmt::format("{:.4f}", candidate.score) : "–",
        known ? fmt::format("{:+.4f} ± {:.4f}", candidate.difference, candidate.standard_error)
              : "–",
        EscapeHtml(why));
  }
  return rows;
}

std::string CandidateTable(const Recommendation& recommendation) {
  return Details(
      "How every candidate scored",
      fmt::format("<div class=\"scroll\" tabindex=\"0\"><table><caption><span>{} on the validation "
                  "cases: mean over {} groups and all "
                  "repeats, and the difference from the best with its standard "
                  "error.</span></caption>\n<thead><tr><th "
                  "scope=\"col\">pipeline</th><th scope=\"col\">score</th><th scope=\"col\">from "
                  "the best</th><th "
                  "scope=\"col\" "
                  "class=\"text\">verdict</th></tr></thead>\n<tbody>\n{}</tbody></table></div>\n",
                  EscapeHtml(recommendation.score),
                  recommendation.groups,
                  CandidateRows(recommendation)));
}

std::string Commands(const std::vector<std::string>& commands) {
  if (commands.empty()) return {};
  std::string text;
  for (const std::string& command : commands) text += EscapeHtml(command) + "\n";
  return "<h3>To use it, in the folder of the study</h3>\n<pre tabindex=\"0\"><code>" + text +
         "</code></pre>\n";
}

}  // namespace

std::string VerdictSection(const StudyView& view) {
  const Recommendation& recommendation = view.study().recommendation;
  const auto chosen = view.FindPipeline(recommendation.pipeline);
  if (!chosen) {
    return PageSection("verdict",
                       "Nothing can be recommended",
                       BulletList(recommendation.reasons) + CandidateTable(recommendation));
  }
  const bool is_baseline = view.study().pipelines[*chosen].baseline;
  const std::string lead = fmt::format("<p class=\"lead\">{} <code>{}</code>.</p>\n<p>{}</p>\n",
                                       is_baseline ? "Leave the prediction as it is:" : "Ship",
                                       EscapeHtml(recommendation.pipeline),
                                       EscapeHtml(PropertiesText(view.study().pipelines[*chosen])));
  const std::string compared = fmt::format(
      "On test cases: before, {}, and after, with intervals of {:.0f} % over {}s and repeats.",
      view.name(view.BaselineOf(*chosen)),
      100.0 * view.study().statistics.options.level,
      view.study().statistics.unit);
  return PageSection("verdict",
                     "Verdict",
                     lead + Cards(view) + Remark(compared) + BulletList(recommendation.reasons) +
                         CandidateTable(recommendation) + Commands(recommendation.commands));
}

std::string WarningsSection(const StudyView& view) {
  const Study& study = view.study();
  std::vector<std::string> warnings = study.recommendation.warnings;
  warnings.insert(warnings.end(), study.warnings.begin(), study.warnings.end());
  for (const StudyFailure& failure : study.failures) {
    warnings.push_back(fmt::format("{} is not in these results: its {} in repeat {} failed: {}",
                                   failure.pipeline,
                                   failure.stage,
                                   failure.repeat + 1,
                                   failure.reason));
  }
  if (warnings.empty()) {
    return PageSection(
        "warnings", "Warnings", Paragraph("Nothing was found that would void this answer."));
  }
  return PageSection(
      "warnings",
      warnings.size() == 1 ? "One warning" : fmt::format("{} warnings", warnings.size()),
      "<div class=\"warnings\">\n" + BulletList(warnings) + "</div>\n");
}

}  // namespace segcal
