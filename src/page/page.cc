// SPDX-License-Identifier: Apache-2.0
#include "page/page.h"

#include <fmt/format.h>

#include <vector>

#include "page/assets.h"
#include "page/html.h"

namespace segcal {
namespace {

// Nothing may be loaded from anywhere: pictures are data, style and script stand in the page.
constexpr const char* kPolicy =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

std::string HeadHtml(const std::string& title) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"generator\" content=\"segcal\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<link rel=\"icon\" "
      "href=\"data:,\">\n<style>\n{}</style>\n</head>\n",
      kPolicy,
      EscapeHtml(title),
      PageStyle());
}

struct SectionLink {
  const char* id;
  const char* shown;
};
constexpr SectionLink kLinks[] = {{"verdict", "Verdict"},
                                  {"warnings", "Warnings"},
                                  {"results", "All pipelines"},
                                  {"matched", "Matched comparisons"},
                                  {"reliability", "Reliability"},
                                  {"tradeoff", "What it costs"},
                                  {"risk", "Risk and coverage"},
                                  {"confusion", "Confusion"},
                                  {"free-energy", "Free energy"},
                                  {"flips", "Flip audit"},
                                  {"sensitivity", "Sensitivity"},
                                  {"shift", "Under shift"},
                                  {"cases", "Cases"},
                                  {"provenance", "Provenance"}};

// Links to the sections that there are.
std::string ContentsHtml(const std::string& body) {
  std::string links;
  for (const SectionLink& link : kLinks) {
    const bool there = std::string_view(link.id) == "cases" ||
                       body.find(fmt::format("<section id=\"{}\"", link.id)) != std::string::npos;
    if (there) links += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", link.id, link.shown);
  }
  return "<nav aria-label=\"Contents\"><ul>\n" + links + "</ul></nav>\n";
}

std::string Banner(const StudyView& view) {
  const Study& study = view.study();
  return fmt::format(
      "<header><p class=\"kind\">Calibration study</p><h1>{}</h1><p class=\"about\">{} pipelines "
      "on {} "
      "cases of {} classes, {} repeat{}</p></header>\n",
      EscapeHtml(study.data.name),
      study.pipelines.size(),
      study.data.cases.size(),
      study.data.classes.size(),
      study.repeats.size(),
      study.repeats.size() == 1 ? "" : "s");
}

}  // namespace

PageParts MakePage(const StudyView& view, const PageOrigin& origin) {
  const std::string sections = VerdictSection(view) + WarningsSection(view) + ResultsSection(view) +
                               MatchedSection(view) + ReliabilitySection(view) +
                               TradeoffSection(view) + RiskSection(view) + ConfusionSection(view) +
                               FreeEnergySection(view) + FlipsSection(view) +
                               SensitivitySection(view) + ShiftSection(view);
  const std::string provenance = ProvenanceSection(view, origin);
  return {.before = HeadHtml(view.study().data.name + ": calibration study") +
                    "<body>\n<a class=\"skip\" href=\"#main\">Skip to the verdict</a>\n" +
                    Banner(view) + "<div class=\"layout\">\n" +
                    ContentsHtml(sections + provenance) + "<main id=\"main\">\n" + sections,
          .after = provenance + "</main>\n</div>\n<footer><p>Made by segcal " +
                   EscapeHtml(view.study().protocol.version) +
                   ".</p></footer>\n<script type=\"module\">\n" + PageScript() +
                   "</script>\n</body>\n</html>\n"};
}

}  // namespace segcal
