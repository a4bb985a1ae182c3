// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "corrupt/corruption.h"
#include "data/plane_box.h"
#include "formats/array.h"
#include "segcal/corrupt.h"

namespace segcal {

// An image or volume as planes of intensities in [0, 1].
class Image {
 public:
  // `spatial` are the axes without channels. An Error unless the type and the shape are those of an
  // image and its range is known.
  Image(std::unique_ptr<Array> array,
        const std::vector<int64_t>& spatial,
        const CorruptOptions& options);

  const ArrayInfo& info() const noexcept { return array_->info(); }
  const std::string& name() const noexcept { return array_->name(); }
  int64_t num_planes() const noexcept { return grid_.planes; }
  int64_t plane_size() const noexcept { return grid_.height * grid_.width * channels_; }

  // Values outside the range are an Error.
  Plane Read(int64_t plane) const;
  // The elements of a plane in the type of the image.
  std::vector<std::byte> Render(const Plane& plane) const;

 private:
  std::vector<double> ReadElements(int64_t plane) const;
  IntensityRange FindRange() const;

  std::unique_ptr<Array> array_;
  PlaneGrid grid_;
  int64_t channels_ = 1;
  IntensityRange range_;
};

// Where an image is and what it is called.
struct ImageSource {
  std::string id;
  std::string path;  // of its file; empty: in memory
  Dataset dataset;   // of one case, or of none for a bare file

  const Case* entry() const noexcept {
    return dataset.cases.empty() ? nullptr : &dataset.cases.front();
  }
};

// The images of all cases, or of one split.
std::vector<ImageSource> ListImages(const Dataset& dataset, const CorruptOptions& options);
// Bare files by their names; two of one name are an Error.
std::vector<ImageSource> ListImages(const std::vector<std::string>& files);

// The image of that id, the first where it is empty; none is an Error.
const ImageSource& FindImage(const std::vector<ImageSource>& sources, const std::string& id);

Image OpenImage(const ImageSource& source, const CorruptOptions& options);

}  // namespace segcal
