// SPDX-License-Identifier: Apache-2.0
#include "methods/tree/tree_map.h"

#include <algorithm>

#include "core/parallel.h"
#include "core/throw.h"

namespace segcal {
namespace {

// A box of this size is long enough to make its halo small and to keep a worker busy.
constexpr int64_t kMaxBoxBytes = int64_t{16} << 20;
constexpr int64_t kMinBoxBytes = int64_t{1} << 20;

// What one worker needs.
struct TreeWorkspace {
  explicit TreeWorkspace(const TreeInput& input) : boxes(input.pooling, input.scores) {}
  BoxReader boxes;
  PaddedBox image;
  TreeValues values;
};

// Strip by strip into the map.
void MapBox(const PlaneGrid& grid,
            const PlaneBox& box,
            const TreeWeights& weights,
            TreeWorkspace* work,
            std::vector<float>* map) {
  for (int64_t y = 0; y < box.rows; y += kStripRows) {
    for (int64_t x = 0; x < box.columns; x += kStripColumns) {
      TreeStrip strip{.scores = work->boxes.scores().plane().From(y, x),
                      .rows = std::min(kStripRows, box.rows - y)};
      if (weights.shape().has_image()) strip.image = work->image.plane().From(y, x);
      TreeTemperatures(strip, weights, &work->values);
      const int64_t columns = std::min(kStripColumns, box.columns - x);
      for (int64_t r = 0; r < strip.rows; ++r) {
        const int64_t row = box.plane * grid.height + box.y + y + r;
        std::copy_n(work->values.temperature + r * kStripColumns,
                    columns,
                    map->begin() + row * grid.width + box.x + x);
      }
    }
  }
}

}  // namespace

std::optional<CaseImage> OpenImage(const CaseReader& reader, const TreeInput& input) {
  if (input.image_channels == 0) return std::nullopt;
  CaseImage image(reader);
  if (image.channels() != input.image_channels) {
    Throw(ErrorCode::kBadData,
          "{}: {} channels; the calibrator looks at {}",
          image.name(),
          image.channels(),
          input.image_channels);
  }
  return image;
}

int64_t BoxBytes(const BindOptions& options) {
  return std::clamp(options.memory / std::max(options.threads, 1), kMinBoxBytes, kMaxBoxBytes);
}

std::vector<float> TemperatureMap(const CaseReader& reader,
                                  const TreeInput& input,
                                  const TreeWeights& weights,
                                  const BindOptions& options) {
  const PlaneGrid grid = MakePlaneGrid(reader.shape());
  const std::optional<CaseImage> image = OpenImage(reader, input);
  const std::vector<PlaneBox> boxes = CutIntoBoxes(grid, reader.num_classes(), BoxBytes(options));
  std::vector<TreeWorkspace> workspaces;
  workspaces.reserve(static_cast<size_t>(options.threads));
  for (int t = 0; t < options.threads; ++t) workspaces.emplace_back(input);
  std::vector<float> map(static_cast<size_t>(reader.num_voxels()));
  ParallelFor(static_cast<int64_t>(boxes.size()), options.threads, [&](int64_t b, int worker) {
    TreeWorkspace& work = workspaces[static_cast<size_t>(worker)];
    const PlaneBox& box = boxes[static_cast<size_t>(b)];
    work.boxes.Read(reader, box);
    if (image) image->CopyBox(box, &work.image);
    MapBox(grid, box, weights, &work, &map);
  });
  return map;
}

}  // namespace segcal
