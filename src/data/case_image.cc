// SPDX-License-Identifier: Apache-2.0
#include "data/case_image.h"

#include <algorithm>
#include <cmath>

#include "core/throw.h"
#include "data/voxel_block.h"
#include "formats/element.h"

namespace segcal {
namespace {

void Standardise(std::span<float> values) {
  double mean = 0.0;
  for (const float value : values) mean += static_cast<double>(value);
  mean /= static_cast<double>(values.size());
  double variance = 0.0;
  for (const float value : values) {
    const double gap = static_cast<double>(value) - mean;
    variance += gap * gap;
  }
  variance /= static_cast<double>(values.size());
  const double factor = variance > 0.0 ? 1.0 / std::sqrt(variance) : 0.0;
  for (float& value : values)
    value = static_cast<float>((static_cast<double>(value) - mean) * factor);
}

}  // namespace

int64_t CountChannels(std::vector<int64_t> shape, std::vector<int64_t> wanted) {
  std::erase(wanted, 1);
  std::vector<int64_t> squeezed = shape;
  std::erase(squeezed, 1);
  if (squeezed == wanted) return 1;
  if (shape.empty()) return 0;
  const int64_t channels = shape.back();
  shape.pop_back();
  std::erase(shape, 1);
  return shape == wanted ? channels : 0;
}

ImageValues ReadCaseImage(const CaseReader& reader, const Array& array) {
  const ArrayInfo& info = array.info();
  const int64_t voxels = reader.num_voxels();
  ImageValues image;
  image.channels = CountChannels(info.shape, reader.shape());
  if (image.channels == 0) {
    Throw(ErrorCode::kBadData,
          "{}: shape ({}); the case {} has ({}), with one more axis for channels",
          array.name(),
          fmt::join(info.shape, ", "),
          reader.id(),
          fmt::join(reader.shape(), ", "));
  }
  image.values.resize(static_cast<size_t>(voxels * image.channels));
  const int64_t size = ElementSize(info.dtype);
  const int64_t at_once = std::min<int64_t>(voxels, kBlockVoxels);
  std::vector<std::byte> bytes(static_cast<size_t>(at_once * image.channels * size));
  for (int64_t first = 0; first < voxels; first += at_once) {
    const int64_t count = std::min(at_once, voxels - first) * image.channels;
    array.Read(first * image.channels, count, bytes.data());
    for (int64_t i = 0; i < count; ++i) {
      const double value = LoadElement(info.dtype, bytes.data() + i * size);
      const int64_t voxel = first + i / image.channels;
      if (!(std::fabs(value) < 1e30)) {
        Throw(ErrorCode::kBadData,
              "{}: {}: the value {}; finite values are required",
              array.name(),
              reader.DescribeVoxel(voxel),
              value);
      }
      image.values[static_cast<size_t>(i % image.channels * voxels + voxel)] =
          static_cast<float>(value);
    }
  }
  return image;
}

CaseImage::CaseImage(const CaseReader& reader) : grid_(MakePlaneGrid(reader.shape())) {
  const std::unique_ptr<Array> array = reader.OpenImage();
  if (array == nullptr)
    Throw(ErrorCode::kBadData, "case {} has no image, which the calibrator needs", reader.id());
  name_ = array->name();
  ImageValues image = ReadCaseImage(reader, *array);
  channels_ = image.channels;
  values_ = std::move(image.values);
  const int64_t voxels = reader.num_voxels();
  for (int64_t c = 0; c < channels_; ++c) {
    Standardise(
        std::span(values_).subspan(static_cast<size_t>(c * voxels), static_cast<size_t>(voxels)));
  }
}

void CaseImage::CopyBox(const PlaneBox& box, PaddedBox* out) const {
  out->Reserve(channels_, box);
  const int64_t voxels = grid_.planes * grid_.height * grid_.width;
  const int64_t left = std::max<int64_t>(0, box.x - kTreeHalo);
  const int64_t right = std::min(grid_.width, box.x + box.columns + kTreeHalo);
  const int64_t top = std::max<int64_t>(0, box.y - kTreeHalo);
  const int64_t bottom = std::min(grid_.height, box.y + box.rows + kTreeHalo);
  for (int64_t c = 0; c < channels_; ++c) {
    for (int64_t y = top; y < bottom; ++y) {
      const int64_t row = c * voxels + (box.plane * grid_.height + y) * grid_.width;
      std::copy_n(values_.begin() + row + left, right - left, out->At(c, y, left));
    }
  }
  out->FillBeyond(grid_);
}

}  // namespace segcal
