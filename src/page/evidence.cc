// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "page/html.h"
#include "page/sections.h"
#include "report/text.h"
#include "segcal/figures.h"

namespace segcal {
namespace {

std::string PercentOf(double part, double whole) {
  return whole > 0.0 ? FormatNumber(100.0 * part / whole, 2) : "–";
}

std::string TableHtml(const std::string& caption,
                      const std::vector<std::string>& heads,
                      const std::vector<std::vector<std::string>>& rows) {
  std::string html = "<div class=\"scroll\" tabindex=\"0\"><table><caption><span>" +
                     EscapeHtml(caption) + "</span></caption>\n<thead><tr>";
  for (const std::string& head : heads) html += "<th scope=\"col\">" + EscapeHtml(head) + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    html += "<tr><th scope=\"row\">" + EscapeHtml(row[0]) + "</th>";
    for (size_t k = 1; k < row.size(); ++k) html += "<td>" + EscapeHtml(row[k]) + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace

std::string RiskSection(const StudyView& view) {
  const size_t after = view.chosen();
  const size_t before = view.BaselineOf(after);
  const EvaluateResult& all = view.study().repeats.front().result;
  EvaluateResult shown = all;
  shown.pipelines = {all.pipelines[after]};
  if (before != after) shown.pipelines.insert(shown.pipelines.begin(), all.pipelines[before]);
  const std::string figure = RiskCoverageFigure(shown);
  if (figure.empty()) return {};
  return PageSection(
      "risk",
      "Risk and coverage",
      Paragraph("How many errors remain when only the most confident voxels are kept: "
                "what confidence is worth for selection.") +
          FigureHtml(figure, "Test voxels of the first repeat."));
}

std::string ConfusionSection(const StudyView& view) {
  constexpr size_t kMostClasses = 24;
  const size_t pipeline = view.chosen();
  const Diagram* diagram = FindDiagram(view.Diagrams(pipeline), DiagramKind::kConfusion);
  if (diagram == nullptr) return {};
  const size_t shown = std::min(kMostClasses, view.classes().size());
  std::string heads;
  for (size_t c = 0; c < shown; ++c)
    heads += "<th scope=\"col\"><span>" + EscapeHtml(view.classes()[c]) + "</span></th>";
  std::string rows;
  for (size_t label = 0; label < std::min(shown, diagram->rows.size()); ++label) {
    const std::vector<double>& row = diagram->rows[label];
    double total = 0.0;
    for (const double count : row) total += count;
    rows += "<tr><th scope=\"row\">" + EscapeHtml(view.classes()[label]) + "</th>";
    for (size_t c = 0; c < std::min(shown, row.size()); ++c) {
      const double share = total > 0.0 ? row[c] / total : 0.0;
      rows += fmt::format("<td data-value=\"{}\" class=\"{}\" style=\"--share:{:.3f}\">{}</td>",
                          static_cast<int64_t>(row[c]),
                          c == label ? "hit" : "miss",
                          share,
                          total > 0.0 ? FormatNumber(100.0 * share, 1) : "–");
    }
    rows += "<td>" + FormatCount(static_cast<int64_t>(total)) + "</td></tr>\n";
  }
  const std::string more =
      shown < view.classes().size()
          ? fmt::format(" The first {} of {} classes.", shown, view.classes().size())
          : "";
  return PageSection(
      "confusion",
      "Confusion",
      "<div class=\"scroll\" tabindex=\"0\"><table class=\"confusion\"><caption><span>" +
          EscapeHtml(view.name(pipeline) +
                     ": a row per label, of which so many per cent are predicted as "
                     "each class; test voxels of all repeats." +
                     more) +
          "</span></caption>\n<thead><tr><td></td>" + heads +
          "<th scope=\"col\"><span>voxels</span></th></tr></thead>\n<tbody>\n" + rows +
          "</tbody></table></div>\n");
}

std::string FreeEnergySection(const StudyView& view) {
  const std::vector<FreeEnergySpread>& spreads = view.study().data.free_energy;
  if (spreads.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  for (const FreeEnergySpread& spread : spreads) {
    rows.push_back({fmt::format("{} member{}", spread.members, spread.members == 1 ? "" : "s"),
                    std::to_string(spread.cases),
                    FormatNumber(spread.mean, 3),
                    FormatNumber(spread.quartiles[0], 3),
                    FormatNumber(spread.quartiles[1], 3),
                    FormatNumber(spread.quartiles[2], 3)});
  }
  return PageSection(
      "free-energy",
      "Free energy",
      Paragraph("The part of the logits that softmax cannot see. Where it varies within an image, "
                "calibrators that are not translation invariant react to it. The case explorer has "
                "its map.") +
          TableHtml("Standard deviation of the free energy within an image, over the cases.",
                    {"ensemble", "cases", "mean", "lower quartile", "median", "upper quartile"},
                    rows));
}

std::string FlipsSection(const StudyView& view) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> none;
  for (const FlipAudit& audit : view.study().flips) {
    if (!(audit.flips > 0.0)) {
      none.push_back(audit.pipeline);
      continue;
    }
    rows.push_back({audit.pipeline,
                    FormatNumber(audit.flips, 3),
                    FormatNumber(audit.harmful, 3),
                    FormatNumber(audit.beneficial, 3),
                    FormatNumber(audit.neutral, 3),
                    PercentOf(audit.harmful, audit.flips),
                    PercentOf(audit.beneficial, audit.flips)});
  }
  if (rows.empty() && none.empty()) return {};
  std::string body;
  if (!rows.empty()) {
    body += TableHtml(
        "Voxels whose class a pipeline changes, in per cent of the labelled test voxels, mean over "
        "repeats.",
        {"pipeline",
         "flips",
         "harmful",
         "beneficial",
         "neutral",
         "harmful, of flips",
         "beneficial, of flips"},
        rows);
  }
  if (!none.empty()) {
    body += Remark(fmt::format("No voxel changed its class: {}.", fmt::join(none, ", ")));
  }
  return PageSection(
      "flips",
      "Flip audit",
      Paragraph("A flip is harmful where the class was right before, beneficial where it is right "
                "after, neutral where it is wrong both times.") +
          body);
}

}  // namespace segcal
