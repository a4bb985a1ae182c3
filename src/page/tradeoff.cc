// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "page/html.h"
#include "page/scatter.h"
#include "page/sections.h"

namespace segcal {

std::string TradeoffSection(const StudyView& view) {
  const MetricColumn nll = view.FindColumn("nll");
  const MetricColumn dsc = view.FindColumn("dsc");
  Scatter scatter{.x_name = nll.header + ", lower is better",
                  .y_name = dsc.header + ", higher is better"};
  scatter.title = "Calibration against segmentation";
  for (size_t p = 0; p < view.num_pipelines(); ++p) {
    const MetricInterval* x = view.FindInterval(p, "nll");
    const MetricInterval* y = view.FindInterval(p, "dsc");
    if (x == nullptr || y == nullptr || !std::isfinite(x->estimate) || !std::isfinite(y->estimate))
      continue;
    scatter.points.push_back({.name = view.name(p),
                              .x = x->estimate,
                              .x_lower = x->lower,
                              .x_upper = x->upper,
                              .y = y->estimate * dsc.factor,
                              .y_lower = y->lower * dsc.factor,
                              .y_upper = y->upper * dsc.factor,
                              .strong = view.name(p) == view.study().recommendation.pipeline,
                              .baseline = view.study().pipelines[p].baseline});
    scatter.title += fmt::format("; {}: {} {}, {} {}",
                                 view.name(p),
                                 nll.header,
                                 Shown(nll, x->estimate),
                                 dsc.header,
                                 Shown(dsc, y->estimate));
  }
  if (scatter.points.empty()) return {};
  return PageSection(
      "tradeoff",
      "What calibration costs",
      Paragraph("Up and to the left is better. Pipelines that keep the segmentation lie on a level "
                "with the uncalibrated prediction of their pooling, which is grey.") +
          FigureHtml(ScatterSvg(scatter),
                     "NLL against Dice, mean over test cases, with their intervals."));
}

}  // namespace segcal
