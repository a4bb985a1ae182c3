// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/colors.h"
#include "report/legend.h"
#include "report/raster.h"

namespace segcal {

// The scale of a panel of numbers: what its two ends stand for.
struct ColorBar {
  ColorMap map = ColorMap::kSequential;
  std::string low;
  std::string high;
};

// A picture with its caption above and its scale or key below.
struct PicturePanel {
  std::string caption;
  RgbImage raster;
  std::optional<ColorBar> bar = {};
  std::vector<LegendItem> key = {};
  bool with_next = false;  // a pair with the next panel, in one row
};

// Panels under a heading, above a legend for all of them.
struct PanelPage {
  std::string title;
  std::string note = {};      // one line under the title, may be empty
  double pixel_aspect = 1.0;  // height of a pixel over its width, for unequal spacing
  std::vector<PicturePanel> panels = {};
  std::vector<LegendItem> legend = {};
};

// Rows of equal cells, as many in a row as fit a page of about 960 pixels; pairs stay in one row,
// for which a later single panel may come first. Rasters above 1536
// pixels are thinned first: a page of six stays small enough to open. Small ones are enlarged,
// because many programs blur what they enlarge themselves.
std::string PanelPageSvg(const PanelPage& page);

}  // namespace segcal
