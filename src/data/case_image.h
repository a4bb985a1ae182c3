// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/case_reader.h"
#include "data/plane_box.h"

namespace segcal {

// Channels of an image of this shape in a case of the spatial shape `wanted`, 0 where it does not
// fit. Axes of length one do not count: an image of (H, W) fits predictions of (C, 1, H, W).
int64_t CountChannels(std::vector<int64_t> shape, std::vector<int64_t> wanted);

// The values of an image as its file has them, [channel][voxel].
struct ImageValues {
  int64_t channels = 1;
  std::vector<float> values;
};

// Reads the image of a case, which must have its shape, or one axis more for its channels. An Error
// names the file and what is wrong.
ImageValues ReadCaseImage(const CaseReader& reader, const Array& array);

// The input image of a case, each channel brought to mean 0 and variance 1 over the case; a
// constant channel is 0.
class CaseImage {
 public:
  explicit CaseImage(const CaseReader& reader);

  const std::string& name() const noexcept { return name_; }  // of its file or view, for messages
  int64_t channels() const noexcept { return channels_; }
  // The channels of a box with their halo.
  void CopyBox(const PlaneBox& box, PaddedBox* out) const;

 private:
  std::string name_;
  PlaneGrid grid_;
  int64_t channels_ = 1;
  std::vector<float> values_;  // [channel][voxel]
};

}  // namespace segcal
