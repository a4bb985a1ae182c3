// SPDX-License-Identifier: Apache-2.0
#include "simulate/fields.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>

#include "core/check.h"

namespace segcal {
namespace {

constexpr int kPasses = 3;  // three boxes in a row are a bell to within 7 % of its peak

// Weights 1 on [-radius, radius] and `edge` on the two next positions: a box of any variance.
struct Box {
  int64_t radius = 0;
  double edge = 0.0;
  int64_t Reach() const noexcept { return radius + (edge > 0.0 ? 1 : 0); }
};

// kPasses boxes whose variances sum to sigma^2. One box has variance
//   s = [r (r + 1)(2r + 1) / 3 + 2 e (r + 1)^2] / (2r + 1 + 2e),
// solved for e in [0, 1) at the largest r whose plain box does not exceed s.
Box FitBox(double sigma) noexcept {
  const double variance = sigma * sigma / kPasses;
  const double width = std::sqrt(12.0 * variance + 1.0);
  Box box;
  box.radius = static_cast<int64_t>((width - 1.0) / 2.0);
  const auto r = static_cast<double>(box.radius);
  const double next = (r + 1.0) * (r + 1.0);
  box.edge =
      std::max(0.0, (2.0 * r + 1.0) * (3.0 * variance - r * (r + 1.0)) / (6.0 * (next - variance)));
  return box;
}

// Smooths an axis of `n` blocks of `inner` contiguous values; what has no full neighbourhood falls
// away, so n - 2 reach blocks remain. Running sums in double cost O(1) per value for any radius.
std::vector<float> ApplyBox(const std::vector<float>& in,
                            int64_t n,
                            int64_t inner,
                            const Box& box) {
  const int64_t kept = n - 2 * box.Reach();
  std::vector<float> out(static_cast<size_t>(kept * inner));
  std::vector<double> sum(static_cast<size_t>(inner), 0.0);
  const auto row = [&](int64_t i) { return in.data() + i * inner; };
  const int64_t first = box.Reach() - box.radius;
  for (int64_t i = first; i < first + 2 * box.radius; ++i) {
    for (int64_t j = 0; j < inner; ++j) sum[static_cast<size_t>(j)] += row(i)[j];
  }
  for (int64_t k = 0; k < kept; ++k) {
    const float* entering = row(k + first + 2 * box.radius);
    const float* leaving = row(k + first);
    const float* below = row(k);
    const float* above = row(k + 2 * box.Reach());
    float* target = out.data() + k * inner;
    for (int64_t j = 0; j < inner; ++j) {
      double& s = sum[static_cast<size_t>(j)];
      s += static_cast<double>(entering[j]);
      const double ends = static_cast<double>(below[j]) + static_cast<double>(above[j]);
      target[j] = static_cast<float>(s + box.edge * ends);
      s -= static_cast<double>(leaving[j]);
    }
  }
  return out;
}

std::vector<float> ApplyBell(std::vector<float> values, int64_t n, int64_t inner, const Box& box) {
  for (int pass = 0; pass < kPasses; ++pass) {
    values = ApplyBox(values, n, inner, box);
    n -= 2 * box.Reach();
  }
  return values;
}

// The weights that kPasses boxes amount to: what they make of a single 1.
std::vector<float> BellWeights(const Box& box) {
  const int64_t pad = 2 * kPasses * box.Reach();
  std::vector<float> impulse(static_cast<size_t>(2 * pad + 1), 0.0f);
  impulse[static_cast<size_t>(pad)] = 1.0f;
  return ApplyBell(std::move(impulse), 2 * pad + 1, 1, box);
}

// Noise and smoothing, innermost axis first and line by line, so that the padding of the outer axes
// costs numbers but no memory.
class FieldSampler {
 public:
  FieldSampler(const std::vector<int64_t>& shape, const Box& box, const Rng& rng)
      : shape_(shape), box_(box), rng_(rng), pad_(kPasses * box.Reach()) {}

  // Axes [axis, rank) at position `index` of the padded outer axes.
  std::vector<float> Block(size_t axis, uint64_t index) const {
    const int64_t padded = shape_[axis] + 2 * pad_;
    if (axis + 1 == shape_.size()) return ApplyBell(NormalLine(padded, index), padded, 1, box_);
    std::vector<float> block;
    for (int64_t i = 0; i < padded; ++i) {
      const auto inner_index = index * static_cast<uint64_t>(padded) + static_cast<uint64_t>(i);
      const std::vector<float> inner = Block(axis + 1, inner_index);
      block.insert(block.end(), inner.begin(), inner.end());
    }
    const auto inner_size = static_cast<int64_t>(block.size()) / padded;
    return ApplyBell(std::move(block), padded, inner_size, box_);
  }

 private:
  // Standard normals by pairs (Box-Muller); line `index` has its own counters.
  std::vector<float> NormalLine(int64_t n, uint64_t index) const {
    const int64_t pairs = (n + 1) / 2;
    std::vector<float> line(static_cast<size_t>(2 * pairs));
    for (int64_t k = 0; k < pairs; ++k) {
      const uint64_t counter =
          2 * (index * static_cast<uint64_t>(pairs) + static_cast<uint64_t>(k));
      const double radius = std::sqrt(-2.0 * std::log(rng_.UniformAt(counter)));
      const double angle = 6.283185307179586 * rng_.UniformAt(counter + 1);
      line[static_cast<size_t>(2 * k)] = static_cast<float>(radius * std::cos(angle));
      line[static_cast<size_t>(2 * k + 1)] = static_cast<float>(radius * std::sin(angle));
    }
    line.resize(static_cast<size_t>(n));
    return line;
  }

  const std::vector<int64_t>& shape_;
  const Box box_;
  const Rng rng_;
  const int64_t pad_;
};

void Scale(double factor, std::vector<float>* values) noexcept {
  for (float& value : *values) value = static_cast<float>(static_cast<double>(value) * factor);
}

// [n][inner] with `pad` copies of the first and last block on either side.
std::vector<float> PadByEdge(const float* in, int64_t n, int64_t inner, int64_t pad) {
  std::vector<float> out(static_cast<size_t>((n + 2 * pad) * inner));
  for (int64_t i = 0; i < n + 2 * pad; ++i) {
    const int64_t source = std::clamp<int64_t>(i - pad, 0, n - 1);
    std::copy_n(in + source * inner, inner, out.data() + i * inner);
  }
  return out;
}

}  // namespace

int64_t NumVoxels(const std::vector<int64_t>& shape) noexcept {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::vector<float> GaussianField(const std::vector<int64_t>& shape, double sigma, const Rng& rng) {
  const Box box = FitBox(sigma);
  std::vector<float> field = FieldSampler(shape, box, rng).Block(0, 0);
  // A weighted sum of independent N(0, 1) has the sum of squared weights as its variance.
  double power = 0.0;
  for (const float w : BellWeights(box)) power += static_cast<double>(w) * static_cast<double>(w);
  Scale(std::pow(power, -0.5 * static_cast<double>(shape.size())), &field);
  return field;
}

std::vector<float> SmoothClamped(const std::vector<int64_t>& shape,
                                 std::vector<float> values,
                                 double sigma) {
  SEGCAL_DCHECK(static_cast<int64_t>(values.size()) == NumVoxels(shape));
  const Box box = FitBox(sigma);
  if (box.Reach() == 0) return values;
  const double mass =
      std::pow(2.0 * static_cast<double>(box.radius) + 1.0 + 2.0 * box.edge, kPasses);
  int64_t inner = 1;
  for (size_t axis = shape.size(); axis-- > 0; inner *= shape[axis]) {
    const int64_t n = shape[axis];
    for (auto block = values.begin(); block != values.end(); block += n * inner) {
      const int64_t pad = kPasses * box.Reach();
      std::vector<float> line =
          ApplyBell(PadByEdge(&*block, n, inner, pad), n + 2 * pad, inner, box);
      Scale(1.0 / mass, &line);
      std::copy(line.begin(), line.end(), block);
    }
  }
  return values;
}

}  // namespace segcal
