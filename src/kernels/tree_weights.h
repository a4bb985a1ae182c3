// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace segcal {

// Filters look at a 5 x 5 grid of voxels two apart.
inline constexpr int64_t kTreeTaps = 25;
inline constexpr int64_t kTreeHalo = 4;

// Filters of a tree: leaves t1 to t4, gates g1 to g3 and, with an image, the gate g4 and the leaf
// t5 that looks at the image.
inline constexpr int64_t kMaxTreeFilters = 9;
inline constexpr int64_t kImageLeaf = 8;

// Temperatures are not below this: what S2 adds to its rectified root, and what a softplus would
// reach only at -6.9.
inline constexpr float kMinTemperature = 1e-3f;

struct TreeShape {
  int64_t classes = 0;
  int64_t image_channels = 0;  // 0: no image, and a softplus (LT3) instead of (LT4)

  bool operator==(const TreeShape&) const = default;
  bool has_image() const noexcept { return image_channels > 0; }
  int64_t score_filters() const noexcept { return has_image() ? 8 : 7; }
  // Filter by filter, [channel][row][column] of its grid and then its bias.
  int64_t num_parameters() const noexcept {
    return score_filters() * (kTreeTaps * classes + 1) +
           (has_image() ? kTreeTaps * image_channels + 1 : 0);
  }
};

// The parameters as kernels read them: the weights of one tap of all score filters beside each
// other, [class][tap][8], then [image channel][tap], all float32; unused ones are 0.
class TreeWeights {
 public:
  static constexpr int64_t kLanes = 8;

  explicit TreeWeights(const TreeShape& shape);

  const TreeShape& shape() const noexcept { return shape_; }
  const float* scores() const noexcept { return packed_.data(); }
  const float* image() const noexcept { return packed_.data() + image_at(); }
  const float* bias() const noexcept { return packed_.data() + bias_at(); }  // [kMaxTreeFilters]

  // Where things lie in the packed array, and its size.
  int64_t image_at() const noexcept { return shape_.classes * kTreeTaps * kLanes; }
  int64_t bias_at() const noexcept { return image_at() + shape_.image_channels * kTreeTaps; }
  int64_t packed_size() const noexcept { return bias_at() + kMaxTreeFilters; }

  void Pack(std::span<const double> parameters);
  // The packed array `gradient` in the order of the parameters, added to `out`.
  void AddUnpacked(std::span<const double> gradient, std::span<double> out) const;

 private:
  // Calls visit(parameter, packed) for every parameter.
  template <class Visit>
  void ForEach(const Visit& visit) const;

  TreeShape shape_;
  std::vector<float> packed_;
};

}  // namespace segcal
