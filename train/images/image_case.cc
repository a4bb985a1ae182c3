// SPDX-License-Identifier: Apache-2.0
#include "train/images/image_case.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "core/progress.h"
#include "core/throw.h"
#include "corrupt/image.h"
#include "data/array_source.h"
#include "data/case_image.h"
#include "data/labels.h"
#include "formats/element.h"
#include "kernels/tile.h"

namespace segcal::train {
namespace {

Extent MakeExtent(const std::vector<int64_t>& shape, const std::string& name) {
  if (shape.size() == 2) return {1, shape[0], shape[1]};
  if (shape.size() == 3) return {shape[0], shape[1], shape[2]};
  Throw(ErrorCode::kUnsupported,
        "{}: {} spatial axes; two or three are required",
        name,
        shape.size());
}

// The image's axes without channels, where there are no labels.
std::vector<int64_t> ShapeOfImage(const Array& array, int64_t spatial_axes) {
  std::vector<int64_t> shape = array.info().shape;
  if (std::ssize(shape) == spatial_axes + 1) shape.pop_back();
  if (std::ssize(shape) == spatial_axes) return shape;
  Throw(ErrorCode::kBadData,
        "{}: shape ({}); {} spatial axes are required, as the training images have, with one more "
        "for channels",
        array.name(),
        fmt::join(array.info().shape, ", "),
        spatial_axes);
}

void ReadLabels(const Dataset& dataset, const Case& entry, ImageCase* result) {
  const LabelReader reader(dataset, OpenSource(dataset, entry, entry.labels, "labels", {}));
  result->shape = reader.array().info().shape;
  result->extent = MakeExtent(result->shape, reader.array().name());
  result->labels.resize(static_cast<size_t>(NumVoxels(result->extent)));
  reader.Read(0, result->labels);
  if (entry.mask.empty()) return;
  const auto mask = OpenSource(dataset, entry, entry.mask, "mask", {});
  if (mask->info().shape != result->shape) {
    Throw(ErrorCode::kBadData,
          "{}: shape ({}); the labels have ({})",
          mask->name(),
          fmt::join(mask->info().shape, ", "),
          fmt::join(result->shape, ", "));
  }
  std::vector<int64_t> inside(result->labels.size());
  ReadIntegers(*mask, 0, inside, "masks");
  for (size_t v = 0; v < inside.size(); ++v) {
    if (inside[v] == 0) result->labels[v] = kNoLabel;
  }
}

void CheckImage(const Array& array, const ImageCase& result, const ReadImagesOptions& options) {
  if (result.channels == 0) {
    Throw(ErrorCode::kBadData,
          "{}: shape ({}); the labels of case {} have ({}), the image needs the same, with one "
          "more axis for channels",
          array.name(),
          fmt::join(array.info().shape, ", "),
          result.id,
          fmt::join(result.shape, ", "));
  }
  if (options.spatial_axes > 0 && std::ssize(result.shape) != options.spatial_axes) {
    Throw(ErrorCode::kBadData,
          "{}: {} spatial axes, the other images have {}",
          array.name(),
          result.shape.size(),
          options.spatial_axes);
  }
  if (options.channels > 0 && result.channels != options.channels) {
    Throw(ErrorCode::kBadData,
          "{}: {} channels, the other images have {}",
          array.name(),
          result.channels,
          options.channels);
  }
}

// Elements in the order of the file, [voxel][channel], to [channel][voxel].
void StoreValues(const ArrayInfo& info,
                 std::span<const std::byte> bytes,
                 int64_t first,
                 const std::string& name,
                 ImageCase* result) {
  const auto size = static_cast<size_t>(ElementSize(info.dtype));
  const int64_t voxels = NumVoxels(result->extent);
  for (size_t i = 0; i < bytes.size() / size; ++i) {
    const double value = LoadElement(info.dtype, bytes.data() + i * size);
    if (!(std::fabs(value) < 1e30))
      Throw(ErrorCode::kBadData, "{}: the value {}; finite ones are required", name, value);
    const int64_t at = first + static_cast<int64_t>(i);
    const int64_t place = at % result->channels * voxels + at / result->channels;
    result->values[static_cast<size_t>(place)] = static_cast<float>(value);
  }
}

void ReadPlain(const Array& array, ImageCase* result) {
  std::vector<std::byte> bytes(result->values.size() *
                               static_cast<size_t>(ElementSize(array.info().dtype)));
  array.Read(0, std::ssize(result->values), bytes.data());
  StoreValues(array.info(), bytes, 0, array.name(), result);
}

// As `segcal corrupt` would write it, in the type of the file.
void ReadCorrupted(const Case& entry,
                   std::unique_ptr<Array> array,
                   const CorruptOptions& options,
                   ImageCase* result) {
  const Image image(std::move(array), result->shape, options);
  const ImageCorruption corruption = DrawCorruption(entry.id, options);
  for (int64_t p = 0; p < image.num_planes(); ++p) {
    const int64_t first = p * image.plane_size();
    Plane plane = image.Read(p);
    ApplyCorruption(corruption, first, image.name(), &plane);
    StoreValues(image.info(), image.Render(plane), first, image.name(), result);
  }
}

}  // namespace

ImageCase ReadImageCase(const Dataset& dataset,
                        const Case& entry,
                        const ReadImagesOptions& options) {
  if (entry.image.empty()) Throw(ErrorCode::kBadData, "case {} has no image", entry.id);
  if (options.needs_labels && entry.labels.empty())
    Throw(ErrorCode::kBadData, "case {} has no labels; training needs them", entry.id);
  ImageCase result;
  result.id = entry.id;
  auto array = OpenSource(dataset, entry, entry.image, "image", {});
  if (!entry.labels.empty()) {
    ReadLabels(dataset, entry, &result);
  } else {
    result.shape = ShapeOfImage(*array, options.spatial_axes);
    result.extent = MakeExtent(result.shape, array->name());
  }
  result.channels = CountChannels(array->info().shape, result.shape);
  CheckImage(*array, result, options);
  result.values.resize(static_cast<size_t>(result.channels * NumVoxels(result.extent)));
  if (options.corrupt) {
    ReadCorrupted(entry, std::move(array), *options.corrupt, &result);
  } else {
    ReadPlain(*array, &result);
  }
  return result;
}

std::vector<ImageCase> ReadImageCases(const Dataset& dataset, ReadImagesOptions options) {
  std::vector<ImageCase> cases;
  for (const Case& entry : dataset.cases) {
    PollProgress();
    cases.push_back(ReadImageCase(dataset, entry, options));
    options.spatial_axes = std::ssize(cases.front().shape);
    options.channels = cases.front().channels;
  }
  return cases;
}

namespace {

struct Moments {
  double sum = 0.0;
  double squares = 0.0;
  double count = 0.0;

  void Add(std::span<const float> values) {
    for (const float value : values) {
      sum += static_cast<double>(value);
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    count += static_cast<double>(values.size());
  }
  double Mean() const { return sum / count; }
  // 1 where all values are the same: they become 0.
  double Spread() const {
    const double variance = squares / count - Mean() * Mean();
    return variance > 1e-12 * std::max(1.0, squares / count) ? std::sqrt(variance) : 1.0;
  }
};

std::span<const float> Channel(const ImageCase& image, int64_t channel) {
  const auto voxels = static_cast<size_t>(NumVoxels(image.extent));
  return std::span(image.values).subspan(static_cast<size_t>(channel) * voxels, voxels);
}

}  // namespace

Normalisation Normalisation::Of(const std::vector<ImageCase>& cases) {
  Normalisation result;
  for (int64_t channel = 0; channel < cases.front().channels; ++channel) {
    Moments moments;
    for (const ImageCase& image : cases) moments.Add(Channel(image, channel));
    result.mean.push_back(moments.Mean());
    result.spread.push_back(moments.Spread());
  }
  return result;
}

void Normalisation::Apply(ImageCase* image) const {
  const Normalisation own = mean.empty() ? Of({*image}) : *this;
  const int64_t voxels = NumVoxels(image->extent);
  for (int64_t channel = 0; channel < image->channels; ++channel) {
    const auto at = static_cast<size_t>(channel);
    for (int64_t v = 0; v < voxels; ++v) {
      float& value = image->values[static_cast<size_t>(channel * voxels + v)];
      value = static_cast<float>((static_cast<double>(value) - own.mean[at]) / own.spread[at]);
    }
  }
}

}  // namespace segcal::train
