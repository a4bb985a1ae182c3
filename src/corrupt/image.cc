// SPDX-License-Identifier: Apache-2.0
#include "corrupt/image.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/progress.h"
#include "core/throw.h"
#include "data/case_image.h"
#include "formats/element.h"

namespace segcal {
namespace {

void CheckImageType(const Array& array) {
  const ArrayInfo& info = array.info();
  if (info.indexed) {
    Throw(ErrorCode::kUnsupported,
          "{}: palette indices or fewer than 8 bits, as label maps have them; an image of gray or "
          "RGB values of 8 or 16 bits is required",
          array.name());
  }
  if (info.dtype == DType::kBool)
    Throw(ErrorCode::kUnsupported, "{}: bool, intensities are required", array.name());
  if (info.dtype == DType::kBF16)
    Throw(ErrorCode::kUnsupported, "{}: bfloat16, which files of images do not have", array.name());
  if (info.NumElements() == 0)
    Throw(ErrorCode::kBadData,
          "{}: shape ({}), an image has at least one pixel",
          array.name(),
          fmt::join(info.shape, ", "));
}

// Of types that have a white of their own.
IntensityRange DefaultRange(const Array& array) {
  const DType dtype = array.info().dtype;
  if (dtype == DType::kU8) return {0.0, 255.0};
  if (dtype == DType::kU16) return {0.0, 65535.0};
  if (IsFloat(dtype)) return {0.0, 1.0};
  Throw(ErrorCode::kInvalidArgument,
        "{}: {} does not say what is black and what is white; a range is required: two values, or "
        "the smallest and the largest of each image",
        array.name(),
        Name(dtype));
}

void CheckRange(const IntensityRange& range, const std::string& name) {
  if (std::isfinite(range.low) && std::isfinite(range.high) && range.low < range.high) return;
  Throw(ErrorCode::kInvalidArgument,
        "{}: the range {} to {}; a finite value and a larger one are required",
        name,
        range.low,
        range.high);
}

}  // namespace

Image::Image(std::unique_ptr<Array> array,
             const std::vector<int64_t>& spatial,
             const CorruptOptions& options)
    : array_(std::move(array)), grid_(MakePlaneGrid(spatial)) {
  CheckImageType(*array_);
  channels_ = CountChannels(info().shape, spatial);
  if (channels_ == 0) {
    Throw(ErrorCode::kBadData,
          "{}: shape ({}); the case has ({}), with one more axis for channels",
          name(),
          fmt::join(info().shape, ", "),
          fmt::join(spatial, ", "));
  }
  if (options.range_of_image) {
    range_ = FindRange();
  } else {
    range_ = options.range ? *options.range : DefaultRange(*array_);
  }
  CheckRange(range_, name());
}

std::vector<double> Image::ReadElements(int64_t plane) const {
  const auto count = static_cast<size_t>(plane_size());
  const auto size = static_cast<size_t>(ElementSize(info().dtype));
  std::vector<std::byte> bytes(count * size);
  array_->Read(plane * plane_size(), plane_size(), bytes.data());
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = LoadElement(info().dtype, bytes.data() + i * size);
  return values;
}

IntensityRange Image::FindRange() const {
  IntensityRange range{std::numeric_limits<double>::infinity(),
                       -std::numeric_limits<double>::infinity()};
  for (int64_t p = 0; p < num_planes(); ++p) {
    PollProgress();
    for (const double value : ReadElements(p)) {
      if (!std::isfinite(value))
        Throw(ErrorCode::kBadData, "{}: the value {}; finite ones are required", name(), value);
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
  }
  if (range.low == range.high) {
    Throw(ErrorCode::kBadData,
          "{}: all values are {}, which has no range; give one by two values",
          name(),
          range.low);
  }
  return range;
}

Plane Image::Read(int64_t plane) const {
  Plane result{.height = grid_.height, .width = grid_.width, .channels = channels_, .values = {}};
  result.values.reserve(static_cast<size_t>(plane_size()));
  for (const double value : ReadElements(plane)) {
    if (!(value >= range_.low && value <= range_.high)) {
      Throw(ErrorCode::kBadData,
            "{}: the value {}; values from {} (black) to {} (white) are required, or another range",
            name(),
            value,
            range_.low,
            range_.high);
    }
    result.values.push_back(static_cast<float>((value - range_.low) / (range_.high - range_.low)));
  }
  return result;
}

std::vector<std::byte> Image::Render(const Plane& plane) const {
  const auto size = static_cast<size_t>(ElementSize(info().dtype));
  std::vector<std::byte> bytes(plane.values.size() * size);
  for (size_t i = 0; i < plane.values.size(); ++i) {
    const double value =
        range_.low + static_cast<double>(plane.values[i]) * (range_.high - range_.low);
    StoreElement(info().dtype, value, bytes.data() + i * size);
  }
  return bytes;
}

}  // namespace segcal
