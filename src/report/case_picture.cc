// SPDX-License-Identifier: Apache-2.0
#include "report/case_picture.h"

#include <algorithm>
#include <utility>

#include "core/throw.h"
#include "kernels/tile.h"
#include "report/text.h"

namespace segcal {
namespace {

// Every value is a class index, or kNoLabel where `least` allows it.
void CheckClasses(const char* what,
                  const std::vector<int32_t>& values,
                  int32_t least,
                  int64_t classes) {
  const auto bad = std::find_if(values.begin(), values.end(), [=](int32_t value) {
    return value < least || value >= classes;
  });
  if (bad == values.end()) return;
  Throw(ErrorCode::kInvalidArgument,
        "{}: value {}, the picture has classes 0 to {}",
        what,
        *bad,
        classes - 1);
}

void Check(const CasePicture& picture) {
  const auto num_classes = static_cast<int64_t>(picture.classes.size());
  CheckClasses("labels", picture.labels, kNoLabel, num_classes);
  CheckClasses("prediction", picture.predicted, 0, num_classes);
  CheckClasses("prediction after", picture.predicted_after, 0, num_classes);
  if (!picture.colors.empty() && picture.colors.size() != picture.classes.size()) {
    Throw(ErrorCode::kInvalidArgument,
          "{} colours for {} classes",
          picture.colors.size(),
          picture.classes.size());
  }
  const auto pixels = static_cast<int64_t>(picture.image.size());
  if (!picture.image.empty() && pixels != picture.size.count()) {
    Throw(ErrorCode::kInvalidArgument,
          "image: {} pixels, the slice has {}",
          pixels,
          picture.size.count());
  }
}

bool HasIgnored(const CasePicture& picture) {
  return std::find(picture.labels.begin(), picture.labels.end(), kNoLabel) != picture.labels.end();
}

PicturePanel ImagePanel(const CasePicture& picture) {
  RgbImage raster(picture.size.width, picture.size.height);
  raster.pixels = picture.image;
  return {.caption = "Image", .raster = std::move(raster)};
}

PicturePanel ConfidencePanel(const std::vector<float>& confidence,
                             const std::string& name,
                             const CasePicture& picture) {
  const double low = ConfidenceFloor(static_cast<int64_t>(picture.classes.size()));
  return {.caption = "Confidence, " + name,
          .raster = ColorizeConfidence(confidence, picture.size, low),
          .bar = ColorBar{ColorMap::kSequential, FormatShort(low), "1"}};
}

PicturePanel ErrorPanel(const CasePicture& picture) {
  PicturePanel panel{.caption = "Errors",
                     .raster = ColorizeErrors(picture.predicted, picture.labels, picture.size),
                     .key = {{.text = "wrong", .color = kRed}, {.text = "right", .color = kCalm}}};
  if (HasIgnored(picture)) panel.key.push_back({.text = "ignored", .sign = Sign::kHatch});
  return panel;
}

PicturePanel FlipPanel(const CasePicture& picture) {
  PicturePanel panel{.caption = "Flips, " + picture.after,
                     .raster = ColorizeFlips(
                         picture.predicted, picture.predicted_after, picture.labels, picture.size),
                     .key = {{.text = "beneficial", .color = kBlue},
                             {.text = "harmful", .color = kRed},
                             {.text = "neutral", .color = kAmber}}};
  if (HasIgnored(picture)) panel.key.push_back({.text = "ignored", .sign = Sign::kHatch});
  return panel;
}

// Whether there are flips to show, and labels to tell good from bad.
bool HasFlips(const CasePicture& picture) {
  return !picture.labels.empty() && !picture.predicted_after.empty() &&
         picture.predicted_after != picture.predicted;
}

std::vector<Rgb> PictureColors(const CasePicture& picture) {
  if (!picture.colors.empty()) return picture.colors;
  return ClassColors(picture.classes.size(), picture.background);
}

std::vector<PicturePanel> Panels(const CasePicture& picture) {
  std::vector<PicturePanel> panels;
  const auto add_classes = [&](const char* caption, const std::vector<int32_t>& values) {
    panels.push_back({.caption = caption,
                      .raster = ColorizeLabels(values, picture.size, PictureColors(picture))});
  };
  const auto add_confidence = [&](const std::vector<float>& values, const std::string& name) {
    if (!values.empty()) panels.push_back(ConfidencePanel(values, name, picture));
  };
  if (!picture.image.empty()) panels.push_back(ImagePanel(picture));
  if (!picture.labels.empty()) add_classes("Labels", picture.labels);
  if (!picture.predicted.empty()) add_classes("Prediction", picture.predicted);
  if (!picture.labels.empty() && !picture.predicted.empty()) panels.push_back(ErrorPanel(picture));
  if (HasFlips(picture)) panels.push_back(FlipPanel(picture));
  add_confidence(picture.confidence_before, picture.before);
  if (!picture.confidence_after.empty()) panels.back().with_next = true;
  add_confidence(picture.confidence_after, picture.after);
  for (const ScalarField& field : picture.fields) {
    panels.push_back(FieldPanel(field, picture.size));
    panels.back().with_next = field.with_next;
  }
  return panels;
}

// Of the classes that occur: a legend of 150 would hide the picture.
std::vector<LegendItem> ClassLegend(const CasePicture& picture) {
  std::vector<bool> occurs(picture.classes.size(), false);
  for (const auto* values : {&picture.labels, &picture.predicted}) {
    for (const int32_t value : *values) {
      if (value >= 0) occurs[static_cast<size_t>(value)] = true;
    }
  }
  std::vector<LegendItem> items;
  const std::vector<Rgb> colors = PictureColors(picture);
  for (size_t i = 0; i < occurs.size(); ++i) {
    if (occurs[i]) items.push_back({.text = picture.classes[i], .color = colors[i]});
  }
  if (HasIgnored(picture)) items.push_back({.text = "ignored", .sign = Sign::kHatch});
  return items;
}

}  // namespace

double ConfidenceFloor(int64_t num_classes) noexcept {
  const int64_t tenths = 10 / std::max<int64_t>(2, num_classes);
  return static_cast<double>(tenths) / 10.0;
}

std::string CasePictureSvg(const CasePicture& picture) {
  Check(picture);
  return PanelPageSvg({.title = picture.title,
                       .note = picture.note,
                       .pixel_aspect = picture.pixel_aspect,
                       .panels = Panels(picture),
                       .legend = ClassLegend(picture)});
}

}  // namespace segcal
