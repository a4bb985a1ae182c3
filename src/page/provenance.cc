// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "page/html.h"
#include "page/sections.h"
#include "report/text.h"

namespace segcal {
namespace {

std::string Term(const std::string& term, const std::string& value) {
  return "<div><dt>" + EscapeHtml(term) + "</dt><dd>" + EscapeHtml(value) + "</dd></div>\n";
}

std::string SplitText(const StudyView& view) {
  const StudyRepeat& first = view.study().repeats.front();
  return fmt::format("{} calibration, {} validation, {} test cases{}",
                     first.calibration.size(),
                     first.validation.size(),
                     first.test.size(),
                     view.study().protocol.split.empty() ? ", the data set's own"
                                                         : ", drawn anew for every repeat");
}

std::string SeedsText(const StudyView& view) {
  std::vector<uint64_t> seeds;
  for (const StudyRepeat& repeat : view.study().repeats) seeds.push_back(repeat.seed);
  return fmt::format("{}; of the repeats {}", view.study().protocol.seed, fmt::join(seeds, ", "));
}

// Of the first fit that read data: the hash differs by pooling.
std::string HashText(const StudyView& view) {
  std::vector<std::string> seen;
  for (const StudyRepeat& repeat : view.study().repeats) {
    for (const StudyFit& fit : repeat.fits) {
      if (fit.report.data.cases == 0) continue;
      seen.push_back(fmt::format(
          "{:016x} ({}, {} cases)", fit.report.data.hash, fit.pipeline, fit.report.data.cases));
      break;
    }
  }
  return seen.empty() ? "no pipeline was fitted" : fmt::format("{}", fmt::join(seen, "; "));
}

std::string FitRows(const StudyView& view) {
  std::string rows;
  const StudyRepeat& first = view.study().repeats.front();
  for (const StudyFit& fit : first.fits) {
    if (fit.report.data.cases == 0) continue;
    rows += fmt::format(
        "<tr><th scope=\"row\"><code>{}</code></th><td class=\"text\"><code>{}</code></td><td "
        "class=\"text\">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        EscapeHtml(fit.pipeline),
        EscapeHtml(fit.fitted),
        Name(fit.report.status),
        fit.report.passes,
        FormatNumber(fit.report.nll_before, 4),
        FormatNumber(fit.report.nll_after, 4));
  }
  return rows;
}

std::string FitsTable(const StudyView& view) {
  const std::string rows = FitRows(view);
  if (rows.empty()) return {};
  return Details(
      "Fits of the first repeat",
      "<div class=\"scroll\" tabindex=\"0\"><table><caption><span>What was chosen, how the solver "
      "ended, "
      "passes over the data, "
      "and the NLL of the calibration cases.</span></caption>\n<thead><tr><th "
      "scope=\"col\">pipeline</th><th scope=\"col\" "
      "class=\"text\">fitted as</th><th scope=\"col\" class=\"text\">status</th><th "
      "scope=\"col\">passes</th><th "
      "scope=\"col\">NLL before</th><th scope=\"col\">after</th></tr></thead>\n<tbody>\n" +
          rows + "</tbody></table></div>\n");
}

std::string Preformatted(const std::string& text) {
  return "<pre tabindex=\"0\"><code>" + EscapeHtml(text) + "</code></pre>\n";
}

}  // namespace

std::string ProvenanceSection(const StudyView& view, const PageOrigin& origin) {
  const Study& study = view.study();
  const Statistics& statistics = study.statistics;
  std::string terms =
      Term("data set",
           fmt::format("{}: {} cases, {} classes, {} labelled voxels",
                       study.data.name,
                       study.data.cases.size(),
                       study.data.classes.size(),
                       FormatCount(study.data.labelled))) +
      Term("partition", SplitText(view)) + Term("repeats", std::to_string(study.repeats.size())) +
      Term("seeds", SeedsText(view)) + Term("options chosen by", Name(study.protocol.select)) +
      Term("search",
           study.protocol.search ? fmt::format("{} trials", *study.protocol.search)
                                 : "the default") +
      Term("intervals",
           fmt::format("{} bootstrap replicates over {}s and repeats, seed {}",
                       statistics.options.replicates,
                       statistics.unit,
                       statistics.options.seed)) +
      Term("hash of the fitted data", HashText(view)) +
      Term("segcal",
           fmt::format("{}, instruction set {}", study.protocol.version, study.protocol.target));
  std::string body = "<dl>\n" + terms + "</dl>\n";
  if (!origin.command.empty()) body += "<h3>Command</h3>\n" + Preformatted(origin.command);
  body += FitsTable(view);
  if (!origin.timing.empty()) body += Details("Timings", Preformatted(origin.timing), false);
  return PageSection("provenance", "Provenance", body);
}

}  // namespace segcal
