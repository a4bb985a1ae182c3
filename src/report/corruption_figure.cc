// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "corrupt/corruption.h"
#include "corrupt/image.h"
#include "report/panels.h"
#include "segcal/corrupt.h"

namespace segcal {
namespace {

RgbImage ToPicture(const Plane& plane) {
  RgbImage picture(plane.width, plane.height);
  const auto channels = static_cast<size_t>(plane.channels);
  const auto byte = [&](size_t i) {
    return static_cast<uint8_t>(std::lround(255.0 * static_cast<double>(plane.values[i])));
  };
  for (size_t i = 0; i < picture.pixels.size(); ++i) {
    const size_t at = i * channels;
    // Fewer than three channels are shown as gray, further ones are not shown.
    const size_t step = channels >= 3 ? 1 : 0;
    picture.pixels[i] = {byte(at), byte(at + step), byte(at + 2 * step)};
  }
  return picture;
}

std::string DrawnNote(const std::string& id, const CorruptOptions& options) {
  CorruptOptions any = options;
  any.only.clear();
  return fmt::format(
      "With seed {} this image draws {}.", options.seed, DrawCorruption(id, any).info->name);
}

std::string DrawFigure(const ImageSource& source, const CorruptOptions& options) {
  const Image image = OpenImage(source, options);
  const int64_t middle = image.num_planes() / 2;
  const Plane clean = image.Read(middle);
  PanelPage page{.title = fmt::format("{}: {} corruptions", source.id, Name(options.severity)),
                 .note = DrawnNote(source.id, options)};
  page.panels.push_back({.caption = "clean", .raster = ToPicture(clean)});
  for (const CorruptionInfo* info : Corruptions()) {
    CorruptOptions one = options;
    one.only = info->name;
    Plane plane = clean;
    ApplyCorruption(
        DrawCorruption(source.id, one), middle * image.plane_size(), image.name(), &plane);
    page.panels.push_back(
        {.caption =
             fmt::format("{}: {}", info->name, Choose(options.severity, info->mild, info->strong)),
         .raster = ToPicture(plane)});
  }
  return PanelPageSvg(page);
}

}  // namespace

std::string CorruptionFigure(const Dataset& dataset,
                             const std::string& id,
                             const CorruptOptions& options) {
  return DrawFigure(FindImage(ListImages(dataset, options), id), options);
}

std::string CorruptionFigure(const std::vector<std::string>& images,
                             const std::string& id,
                             const CorruptOptions& options) {
  return DrawFigure(FindImage(ListImages(images), id), options);
}

}  // namespace segcal
