// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_blocks.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "core/aligned.h"
#include "kernels/gram.h"
#include "optim/dense_model.h"

namespace segcal {
namespace {

// Added to a block, relative to its largest entry: a sample may have less rank than a block has
// parameters, and sums of float32 products have that much rounding.
constexpr double kDamping = 1e-7;

// The same relative to the largest entry of all blocks, for blocks without curvature.
constexpr double kLeastCurvature = 1e-9;

// The factors of a block on its free parameters.
class FreeBlock {
 public:
  FreeBlock(const double* block, int64_t size, std::vector<int64_t> members, double least)
      : members_(std::move(members)),
        count_(static_cast<int64_t>(members_.size())),
        stride_(GramStride(count_)) {
    double largest = 0.0;
    for (const int64_t i : members_) largest = std::max(largest, block[i * size + i]);
    const int64_t entries = count_ * stride_;
    factors_ = reinterpret_cast<double*>(memory_.Reserve(entries * int64_t{sizeof(double)}));
    // A block of less rank than it has parameters: tenfold until the factors exist.
    for (double add = std::max(kDamping * largest, least);; add *= 10.0) {
      std::fill_n(factors_, entries, 0.0);
      for (int64_t i = 0; i < count_; ++i) {
        const double* row = block + members_[static_cast<size_t>(i)] * size;
        for (int64_t j = i; j < count_; ++j)
          factors_[i * stride_ + j] = row[members_[static_cast<size_t>(j)]];
        factors_[i * stride_ + i] += add;
      }
      if (FactorCholesky(count_, stride_, factors_)) break;
    }
  }

  int64_t stride() const noexcept { return stride_; }
  const std::vector<int64_t>& members() const noexcept { return members_; }
  void Solve(double* x) const noexcept { SolveCholesky(count_, stride_, factors_, x); }

 private:
  std::vector<int64_t> members_;  // of the block, ascending
  int64_t count_;
  int64_t stride_;
  AlignedBuffer memory_;
  double* factors_;
};

// Takes out what is common to all rows, which does not change probabilities: where nothing curves a
// step would follow the rounding of the slope. A column with a row that is held has no such part.
void TakeOutGauge(const AffineShape& shape, const std::vector<char>& free, std::vector<double>* v) {
  if (shape.gaps()) return;
  const auto features = static_cast<size_t>(shape.num_features());
  for (size_t k = 0; k < features; ++k) {
    double mean = 0.0;
    bool whole = true;
    for (size_t i = k; i < v->size(); i += features) {
      mean += (*v)[i] / static_cast<double>(shape.num_rows());
      whole = whole && free[i] != 0;
    }
    for (size_t i = k; whole && i < v->size(); i += features) (*v)[i] -= mean;
  }
}

}  // namespace

AffineBlocks::AffineBlocks(const AffineShape& shape, std::vector<double> blocks)
    : shape_(shape), blocks_(std::move(blocks)) {
  const double largest = *std::max_element(blocks_.begin(), blocks_.end());
  least_curvature_ = std::max(kLeastCurvature * largest, std::numeric_limits<double>::min());
}

Product AffineBlocks::Inverse(const std::vector<char>& free) const {
  if (free == known_free_) return known_;
  known_ = nullptr;  // first: factors are large
  known_free_ = free;
  known_ = MakeInverse(free);
  return known_;
}

Product AffineBlocks::MakeInverse(const std::vector<char>& free) const {
  const BlockLayout layout(shape_);
  auto blocks = std::make_shared<std::vector<std::pair<int64_t, FreeBlock>>>();
  for (int64_t b = 0; b < layout.num_blocks; ++b) {
    std::vector<int64_t> members;
    for (int64_t i = 0; i < layout.size; ++i) {
      if (free[static_cast<size_t>(layout.Parameter(b, i))] != 0) members.push_back(i);
    }
    if (members.empty()) continue;
    blocks->emplace_back(b,
                         FreeBlock(blocks_.data() + b * layout.size * layout.size,
                                   layout.size,
                                   std::move(members),
                                   least_curvature_));
  }
  return [shape = shape_, free, blocks](std::vector<double> v) {
    TakeOutGauge(shape, free, &v);
    const BlockLayout of_shape(shape);
    std::vector<double> result(v.size());
    AlignedBuffer memory;
    auto* x = reinterpret_cast<double*>(
        memory.Reserve(GramStride(of_shape.size) * int64_t{sizeof(double)}));
    for (const auto& [b, block] : *blocks) {
      std::fill_n(x, block.stride(), 0.0);
      double* to = x;
      for (const int64_t i : block.members())
        *to++ = v[static_cast<size_t>(of_shape.Parameter(b, i))];
      block.Solve(x);
      const double* from = x;
      for (const int64_t i : block.members())
        result[static_cast<size_t>(of_shape.Parameter(b, i))] = *from++;
    }
    TakeOutGauge(shape, free, &result);
    return result;
  };
}

std::vector<double> AffineBlocks::Step(const Box& box,
                                       const std::vector<double>& point,
                                       const std::vector<double>& slope) const {
  const BlockLayout layout(shape_);
  std::vector<double> step(point.size());
  for (int64_t b = 0; b < layout.num_blocks; ++b) {
    const auto parameter = [&](int64_t i) { return static_cast<size_t>(layout.Parameter(b, i)); };
    const int64_t entries = layout.size * layout.size;
    std::vector<double> block(blocks_.begin() + b * entries, blocks_.begin() + (b + 1) * entries);
    Box own_box;
    std::vector<double> own_point;
    std::vector<double> own_slope;
    for (int64_t i = 0; i < layout.size; ++i) {
      block[static_cast<size_t>(i * layout.size + i)] += least_curvature_;
      own_box.lower.push_back(box.lower[parameter(i)]);
      own_box.upper.push_back(box.upper[parameter(i)]);
      own_point.push_back(point[parameter(i)]);
      own_slope.push_back(slope[parameter(i)]);
    }
    const std::vector<double> own =
        MakeDenseModel(std::move(block))->Step(own_box, own_point, own_slope, kDamping);
    for (int64_t i = 0; i < layout.size; ++i) step[parameter(i)] = own[static_cast<size_t>(i)];
  }
  return step;
}

}  // namespace segcal
