// SPDX-License-Identifier: Apache-2.0
#include "report/reliability_bars.h"

#include <algorithm>
#include <cmath>

#include "report/colors.h"

namespace segcal {
namespace {

constexpr double kFaintness = 0.68;          // share of paper in a faint bar
constexpr double kSmallestInterval = 0.015;  // what can be told from a line

double Accuracy(const ReliabilityRow& bin) {
  return std::clamp(static_cast<double>(bin.correct) / static_cast<double>(bin.count), 0.0, 1.0);
}

bool IsFew(const ReliabilityRow& bin) {
  return WilsonInterval(bin.correct, bin.count).width() > kFewVoxels;
}

// A bar from `low` to `high` accuracy over the bin; white shows between neighbours.
void DrawBar(
    const ReliabilityRow& bin, double low, double high, Rgb color, const UnitPlot& plot, Svg* svg) {
  const double left = plot.X(bin.lower);
  const double width = plot.X(bin.upper) - left;
  const double gap = std::min(1.0, 0.15 * width);
  const SvgBox box{left + gap / 2.0, plot.Y(high), width - gap, plot.Y(low) - plot.Y(high)};
  svg->AddRect(box, {.fill = IsFew(bin) ? Mix(color, kPaper, kFaintness) : color});
}

void DrawInterval(const ReliabilityRow& bin, const UnitPlot& plot, Svg* svg) {
  const ShareInterval interval = WilsonInterval(bin.correct, bin.count);
  if (interval.width() < kSmallestInterval) return;
  const double x = plot.X(0.5 * (bin.lower + bin.upper));
  const double reach = std::min(2.5, 0.3 * (plot.X(bin.upper) - plot.X(bin.lower)));
  const LineStyle style{.color = kFaint, .width = 1.0};
  svg->AddLine({x, plot.Y(interval.low)}, {x, plot.Y(interval.high)}, style);
  for (const double end : {interval.low, interval.high})
    svg->AddLine({x - reach, plot.Y(end)}, {x + reach, plot.Y(end)}, style);
}

}  // namespace

ShareInterval WilsonInterval(int64_t hits, int64_t count) noexcept {
  if (count <= 0) return {};
  constexpr double kZ = 1.959963984540054;  // of 95 %
  const auto n = static_cast<double>(count);
  const double share = static_cast<double>(hits) / n;
  const double middle = (share + kZ * kZ / (2.0 * n)) / (1.0 + kZ * kZ / n);
  const double half =
      kZ / (1.0 + kZ * kZ / n) * std::sqrt(share * (1.0 - share) / n + kZ * kZ / (4.0 * n * n));
  return {.low = std::max(0.0, middle - half), .high = std::min(1.0, middle + half)};
}

void DrawBars(const std::vector<ReliabilityRow>& bins, const UnitPlot& plot, Svg* svg) {
  for (const ReliabilityRow& bin : bins) {
    if (bin.count == 0) continue;
    const double accuracy = Accuracy(bin);
    const double confidence =
        std::clamp(bin.confidence_sum / static_cast<double>(bin.count), 0.0, 1.0);
    const double low = std::min(accuracy, confidence);
    const double high = std::max(accuracy, confidence);
    DrawBar(bin, 0.0, low, kBlue, plot, svg);
    DrawBar(bin, low, high, confidence > accuracy ? kRed : kAmber, plot, svg);
    const double y = plot.Y(accuracy);
    svg->AddLine({plot.X(bin.lower) + 0.5, y},
                 {plot.X(bin.upper) - 0.5, y},
                 {.color = IsFew(bin) ? kFaint : kInk, .width = 1.5});
    DrawInterval(bin, plot, svg);
  }
}

void DrawBefore(const std::vector<ReliabilityRow>& bins, const UnitPlot& plot, Svg* svg) {
  std::vector<Point> line;
  const auto finish = [&] {
    // White under the line keeps it apart from the bars.
    svg->AddPolyline(line, {.color = kPaper, .width = 4.0});
    svg->AddPolyline(line, {.color = kBefore, .width = 2.0});
    line.clear();
  };
  double end = 0.0;  // of the last bin drawn; lists may leave out empty bins
  for (const ReliabilityRow& bin : bins) {
    if (bin.count == 0 || IsFew(bin)) continue;
    if (bin.lower > end + 1e-9) finish();
    const double y = plot.Y(Accuracy(bin));
    line.push_back({plot.X(bin.lower), y});
    line.push_back({plot.X(bin.upper), y});
    end = bin.upper;
  }
  finish();
}

}  // namespace segcal
