// SPDX-License-Identifier: Apache-2.0
#include "report/panels.h"

#include <algorithm>
#include <cmath>

#include "core/throw.h"
#include "report/text.h"

namespace segcal {
namespace {

constexpr double kPageWidth = 960.0;
constexpr double kPageMargin = 24.0;
constexpr double kGap = 20.0;
constexpr double kMinCell = 150.0;  // room for a caption and a scale over a narrow picture
constexpr double kMinSide = 16.0;   // of a drawn picture, however thin the raster
constexpr double kMaxHeight = 320.0;
constexpr double kCaption = 22.0;
constexpr double kBarHeight = 10.0;
constexpr double kBarBlock = 30.0;  // scale and its labels
constexpr int64_t kMaxRaster = 1536;

struct Size {
  double width = 0.0;
  double height = 0.0;
};

struct PageLayout {
  Size cell;  // of the drawn pictures, the same for all
  size_t columns = 1;
  std::vector<std::vector<size_t>> rows;  // places in the list of panels
  double header = 0.0;
  double inner_width = 0.0;
  std::vector<double> footers;  // per row: scales and keys under the pictures
};

Size DrawnSize(const RgbImage& raster, double pixel_aspect) {
  const double width = static_cast<double>(std::max<int64_t>(1, raster.width));
  const double height = static_cast<double>(std::max<int64_t>(1, raster.height)) * pixel_aspect;
  // Three to a row; panoramas two to a row.
  const double columns = width > 3.0 * height ? 2.0 : 3.0;
  const double max_width = (kPageWidth - 2.0 * kPageMargin - (columns - 1.0) * kGap) / columns;
  const double scale = std::min(max_width / width, kMaxHeight / height);
  return {std::max(kMinSide, width * scale), std::max(kMinSide, height * scale)};
}

// The raster with about as many pixels as it is drawn with, or more.
RgbImage ForDrawing(const RgbImage& raster, Size size) {
  const double ratio = std::max(size.width / static_cast<double>(raster.width),
                                size.height / static_cast<double>(raster.height));
  const auto factor = static_cast<int64_t>(std::ceil(ratio));
  const int64_t longest = std::max(raster.width, raster.height);
  if (factor > 1 && longest * factor <= kMaxRaster) return Enlarge(raster, factor);
  return Thin(raster, kMaxRaster);
}

double FooterHeight(const PicturePanel& panel, double width) {
  const double bar = panel.bar ? kBarBlock : 0.0;
  const double key = panel.key.empty() ? 0.0 : 6.0 + LegendHeight(panel.key, width);
  return bar + key;
}

// Rows of so many places that keep pairs together: a single panel that comes later fills the last
// place before a pair that does not fit.
std::vector<std::vector<size_t>> FillRows(const std::vector<PicturePanel>& panels, size_t columns) {
  std::vector<std::vector<size_t>> units;  // pairs and single panels
  for (size_t i = 0; i < panels.size(); ++i) {
    const bool joins = i > 0 && panels[i - 1].with_next && units.back().size() < columns;
    if (!joins) units.emplace_back();
    units.back().push_back(i);
  }
  std::vector<std::vector<size_t>> rows;
  while (!units.empty()) {
    std::vector<size_t>& row = rows.emplace_back();
    for (auto unit = units.begin(); unit != units.end() && row.size() < columns;) {
      if (row.size() + unit->size() > columns) {
        ++unit;
        continue;
      }
      row.insert(row.end(), unit->begin(), unit->end());
      unit = units.erase(unit);
    }
  }
  return rows;
}

PageLayout Arrange(const PanelPage& page) {
  PageLayout layout;
  layout.cell.width = kMinCell;
  for (const PicturePanel& panel : page.panels) {
    const Size size = DrawnSize(panel.raster, page.pixel_aspect);
    layout.cell.width = std::max(layout.cell.width, size.width);
    layout.cell.height = std::max(layout.cell.height, size.height);
  }
  const size_t count = std::max<size_t>(1, page.panels.size());
  const double fitting = (kPageWidth - 2.0 * kPageMargin + kGap + 0.5) / (layout.cell.width + kGap);
  const size_t most = std::clamp<size_t>(static_cast<size_t>(fitting), 1, count);
  const size_t rows = (count + most - 1) / most;
  layout.columns = (count + rows - 1) / rows;
  layout.rows = FillRows(page.panels, layout.columns);
  const auto more = FillRows(page.panels, most);
  if (more.size() < layout.rows.size()) {
    layout.columns = most;
    layout.rows = more;
  }
  const auto columns = static_cast<double>(layout.columns);
  layout.inner_width = std::max(320.0, columns * (layout.cell.width + kGap) - kGap);
  layout.header = kPageMargin + 22.0 + (page.note.empty() ? 0.0 : 20.0) + 8.0;
  for (const std::vector<size_t>& row : layout.rows) {
    double& footer = layout.footers.emplace_back(0.0);
    for (const size_t i : row)
      footer = std::max(footer, FooterHeight(page.panels[i], layout.cell.width));
  }
  return layout;
}

// Top of a row of panels, or the end of the last one.
double RowTop(const PageLayout& layout, size_t row) {
  double y = layout.header;
  for (size_t r = 0; r < row; ++r) y += kCaption + layout.cell.height + layout.footers[r] + kGap;
  return y;
}

void DrawBar(const ColorBar& bar, Point corner, double width, Svg* svg) {
  const MapColors colors = FindColors(bar.map);
  RgbImage strip(kMapSteps, 1);
  std::copy(colors.begin(), colors.end(), strip.pixels.begin());
  svg->AddImage({corner.x, corner.y, width, kBarHeight}, strip);
  const double baseline = corner.y + kBarHeight + 13.0;
  svg->AddText({corner.x, baseline}, bar.low, {.size = 10.5, .color = kFaint});
  svg->AddText({corner.x + width, baseline},
               bar.high,
               {.size = 10.5, .color = kFaint, .anchor = Anchor::kEnd});
}

void DrawPanel(
    const PicturePanel& panel, const PageLayout& layout, double aspect, Point corner, Svg* svg) {
  const Size size = DrawnSize(panel.raster, aspect);
  const double width = layout.cell.width;
  svg->AddText({corner.x, corner.y + 13.0},
               FitPixels(panel.caption, 12.5 * kBoldWidth, width),
               {.size = 12.5, .color = kInk, .bold = true});
  const SvgBox box{corner.x, corner.y + kCaption, size.width, size.height};
  svg->AddImage(box, ForDrawing(panel.raster, size));
  svg->AddRect({box.x - 0.5, box.y - 0.5, box.width + 1.0, box.height + 1.0}, {.stroke = kRule});
  double y = corner.y + kCaption + layout.cell.height + 7.0;
  if (panel.bar) {
    DrawBar(*panel.bar, {corner.x, y}, std::max(size.width, kMinCell), svg);
    y += kBarBlock;
  }
  DrawLegend(panel.key, {corner.x, y - 1.0}, width, svg);
}

void DrawHeading(const PanelPage& page, double width, Svg* svg) {
  svg->AddText({kPageMargin, kPageMargin + 14.0},
               FitPixels(page.title, 17.0 * kBoldWidth, width),
               {.size = 17.0, .color = kInk, .bold = true});
  if (page.note.empty()) return;
  svg->AddText({kPageMargin, kPageMargin + 35.0},
               FitPixels(page.note, 12.0, width),
               {.size = 12.0, .color = kFaint});
}

}  // namespace

std::string PanelPageSvg(const PanelPage& page) {
  if (!std::isfinite(page.pixel_aspect) || page.pixel_aspect <= 0.0) {
    Throw(ErrorCode::kInvalidArgument, "pixel aspect: {}, must be positive", page.pixel_aspect);
  }
  const PageLayout layout = Arrange(page);
  const double legend_top = RowTop(layout, layout.rows.size());
  const double legend = LegendHeight(page.legend, layout.inner_width);
  const double height = legend > 0.0 ? legend_top + legend + kPageMargin - 4.0 : legend_top + 4.0;
  Svg svg(layout.inner_width + 2.0 * kPageMargin, height, page.title);
  DrawHeading(page, layout.inner_width, &svg);
  for (size_t row = 0; row < layout.rows.size(); ++row) {
    for (size_t column = 0; column < layout.rows[row].size(); ++column) {
      const double x = kPageMargin + static_cast<double>(column) * (layout.cell.width + kGap);
      const PicturePanel& panel = page.panels[layout.rows[row][column]];
      DrawPanel(panel, layout, page.pixel_aspect, {x, RowTop(layout, row)}, &svg);
    }
  }
  DrawLegend(page.legend, {kPageMargin, legend_top}, layout.inner_width, &svg);
  return std::move(svg).Finish();
}

}  // namespace segcal
