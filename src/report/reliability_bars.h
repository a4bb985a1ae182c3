// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "report/svg.h"
#include "segcal/metric_values.h"

namespace segcal {

// Where the unit square of a reliability diagram lies on the page.
struct UnitPlot {
  SvgBox box;

  double X(double x) const noexcept { return box.x + box.width * x; }
  double Y(double y) const noexcept { return box.bottom() - box.height * y; }
};

// Bounds of a share.
struct ShareInterval {
  double low = 0.0;
  double high = 1.0;

  double width() const noexcept { return high - low; }
};

// The 95 % interval of Wilson for the share of `count` independent trials that `hits` of them show;
// all of [0, 1] without a trial.
ShareInterval WilsonInterval(int64_t hits, int64_t count) noexcept;

// A bin is drawn faint where its interval is wider than this: its height says little.
inline constexpr double kFewVoxels = 0.1;

// The accuracy of every bin with something in it, the gap to its mean confidence, and its interval
// where that can be seen.
void DrawBars(const std::vector<ReliabilityRow>& bins, const UnitPlot& plot, Svg* svg);

// The accuracies as a line over the bars: how it was before. Bins of few voxels leave a hole.
void DrawBefore(const std::vector<ReliabilityRow>& bins, const UnitPlot& plot, Svg* svg);

}  // namespace segcal
