// SPDX-License-Identifier: Apache-2.0
#include "page/packed_case.h"

#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "formats/deflate.h"
#include "formats/jpeg.h"
#include "report/raster.h"

namespace segcal {
namespace {

// Good enough to see what is there; the pictures beside it are exact.
constexpr int kImageQuality = 80;

struct FieldScale {
  double low = 0.0;
  double high = 0.0;
  bool varies = false;
};

FieldScale FindScale(const std::vector<float>& values) {
  FieldScale scale{.low = INFINITY, .high = -INFINITY};
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    scale.low = std::min(scale.low, static_cast<double>(value));
    scale.high = std::max(scale.high, static_cast<double>(value));
  }
  scale.varies = scale.low < scale.high;
  return scale;
}

// Appends planes of a case one after the other.
class PlaneWriter {
 public:
  PlaneWriter(const SampleGrid& grid, std::string* out) : grid_(grid), out_(*out) {}

  // Every step-th point of a map of the grid.
  BytePlane Thin(const std::vector<uint8_t>& map, int64_t step) const {
    BytePlane plane{.slices = static_cast<int64_t>(grid_.slices.size()),
                    .rows = (grid_.rows + step - 1) / step,
                    .columns = (grid_.columns + step - 1) / step,
                    .values = {}};
    for (int64_t z = 0; z < plane.slices; ++z) {
      for (int64_t y = 0; y < grid_.rows; y += step) {
        for (int64_t x = 0; x < grid_.columns; x += step)
          plane.values.push_back(
              map[static_cast<size_t>((z * grid_.rows + y) * grid_.columns + x)]);
      }
    }
    return plane;
  }

  void Add(const std::vector<uint8_t>& map, const std::vector<uint8_t>* reference, int64_t step) {
    const BytePlane plane = Thin(map, step);
    if (reference == nullptr) {
      out_ += PredictPlane(plane, nullptr);
      return;
    }
    const BytePlane other = Thin(*reference, step);
    out_ += PredictPlane(plane, &other);
  }

  void AddField(const std::vector<float>& values, const FieldScale& scale, int64_t step) {
    std::vector<uint8_t> levels;
    levels.reserve(values.size());
    for (const float value : values)
      levels.push_back(FieldLevel(static_cast<double>(value), scale.low, scale.high));
    Add(levels, nullptr, step);
  }

 private:
  const SampleGrid& grid_;
  std::string& out_;
};

Json ScaleJson(const FieldScale& scale) {
  return scale.varies ? Json{scale.low, scale.high} : Json(nullptr);
}

// All slices below each other as one picture.
std::string ImageUrl(const ExploredCase& explored) {
  if (explored.image.empty()) return {};
  const auto slices = static_cast<int64_t>(explored.grid.slices.size());
  const Bytes bytes = EncodeJpeg("image of case " + explored.id,
                                 {.pixels = explored.image.data(),
                                  .height = slices * explored.grid.rows,
                                  .width = explored.grid.columns,
                                  .channels = explored.image_channels},
                                 kImageQuality);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return "data:image/jpeg;base64," + Base64(text);
}

}  // namespace

PackedCase PackCase(const ExploredCase& explored, const PackOrder& order, PackSteps steps) {
  std::string raw;
  PlaneWriter writer(explored.grid, &raw);
  const auto& pipelines = explored.pipelines;
  const auto reference_of = [&](size_t p) {
    return order.reference[p] < 0 ? nullptr : &pipelines[static_cast<size_t>(order.reference[p])];
  };
  writer.Add(explored.labels, nullptr, 1);
  const std::vector<uint8_t>* before = &explored.labels;
  for (size_t p = 0; p < pipelines.size(); ++p) {
    if (order.first_of_pooling[p] != static_cast<int64_t>(p)) continue;
    writer.Add(pipelines[p].decision, before, 1);
    before = &pipelines[p].decision;
  }
  for (size_t p = 0; p < pipelines.size(); ++p) {
    if (!order.keeps[p]) writer.Add(pipelines[p].predicted, &pipelines[p].decision, 1);
  }
  const FieldScale energy = FindScale(explored.free_energy);
  if (energy.varies) writer.AddField(explored.free_energy, energy, steps.fine);
  for (size_t p = 0; p < pipelines.size(); ++p) {
    const auto* reference = reference_of(p);
    writer.Add(pipelines[p].confidence, reference ? &reference->confidence : nullptr, steps.fine);
  }
  Json temperatures = Json::array();
  for (const ExploredCase::PipelineMaps& maps : pipelines) {
    const FieldScale scale = FindScale(maps.temperature);
    temperatures.push_back(ScaleJson(scale));
    if (scale.varies) writer.AddField(maps.temperature, scale, steps.fine);
  }
  for (const std::vector<uint8_t>& classes : explored.leading)
    writer.Add(classes, nullptr, steps.coarse);
  for (size_t k = 0; k < explored.leading.size(); ++k) {
    for (size_t p = 0; p < pipelines.size(); ++p) {
      const auto* reference = reference_of(p);
      writer.Add(pipelines[p].probabilities[k],
                 reference ? &reference->probabilities[k] : nullptr,
                 steps.coarse);
    }
  }
  const SampleGrid& grid = explored.grid;
  return {.manifest = {{"id", explored.id},
                       {"height", grid.height},
                       {"width", grid.width},
                       {"depth", explored.depth},
                       {"slices", grid.slices},
                       {"step", grid.step},
                       {"rows", grid.rows},
                       {"columns", grid.columns},
                       {"aspect", explored.pixel_aspect},
                       {"fine", steps.fine},
                       {"coarse", steps.coarse},
                       {"leading", explored.leading.size()},
                       {"energy", ScaleJson(energy)},
                       {"temperatures", temperatures},
                       {"image", ImageUrl(explored)}},
          .bytes = DeflateRaw(raw)};
}

}  // namespace segcal
