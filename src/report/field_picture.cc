// SPDX-License-Identifier: Apache-2.0
#include "report/field_picture.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/text.h"

namespace segcal {
namespace {

struct Interval {
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

// Of the finite values; NaN where there are none.
Interval FindRange(const std::vector<float>& values) {
  Interval range;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    range.low = std::fmin(range.low, static_cast<double>(value));
    range.high = std::fmax(range.high, static_cast<double>(value));
  }
  return range;
}

}  // namespace

PicturePanel FieldPanel(const ScalarField& field, SliceSize size) {
  const Interval range = FindRange(field.values);
  const double low = field.low.value_or(range.low);
  const double high = field.high.value_or(range.high);
  // An end that is given may lie inside the values.
  const std::string beyond = range.high > high ? "≥ " : "";
  return {.caption = field.caption,
          .raster = ColorizeField(field.values, size, low, high, ColorMap::kHeat),
          .bar = ColorBar{ColorMap::kHeat, FormatShort(low), beyond + FormatShort(high)}};
}

std::string FieldPictureSvg(const FieldPicture& picture) {
  PanelPage page{
      .title = picture.title, .note = picture.note, .pixel_aspect = picture.pixel_aspect};
  for (const ScalarField& field : picture.fields)
    page.panels.push_back(FieldPanel(field, picture.size));
  return PanelPageSvg(page);
}

}  // namespace segcal
