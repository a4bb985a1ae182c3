// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_blocks.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "optim/decompositions.h"
#include "optim/dense_model.h"

namespace segcal {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Added to a block, relative to its largest entry: a sample may have less rank than a block has
// parameters, and sums of float32 products have that much rounding.
constexpr double kDamping = 1e-7;

// The same relative to the largest entry of all blocks, for blocks without curvature.
constexpr double kLeastCurvature = 1e-9;

// The free parameters of a block and the factors of their block.
struct FreeBlock {
  std::vector<Eigen::Index> parameters;
  CholeskyFactors factors;
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
  const BlockLayout layout(shape_);
  auto blocks = std::make_shared<std::vector<FreeBlock>>();
  for (int64_t b = 0; b < layout.num_blocks; ++b) {
    std::vector<Eigen::Index> members;
    FreeBlock free_block;
    for (int64_t i = 0; i < layout.size; ++i) {
      const int64_t parameter = layout.Parameter(b, i);
      if (free[static_cast<size_t>(parameter)] == 0) continue;
      members.push_back(i);
      free_block.parameters.push_back(parameter);
    }
    if (members.empty()) continue;
    const Eigen::Map<const Matrix> block(
        blocks_.data() + b * layout.size * layout.size, layout.size, layout.size);
    Eigen::MatrixXd h = block(members, members);
    double add = std::max(kDamping * h.diagonal().maxCoeff(), least_curvature_);
    bool found = false;
    while (!found) {  // tenfold until the factors exist
      h.diagonal().array() += add;
      found = free_block.factors.Factor(h);
      add *= 10.0;
    }
    blocks->push_back(std::move(free_block));
  }
  return [shape = shape_, free, blocks](std::vector<double> v) {
    TakeOutGauge(shape, free, &v);
    std::vector<double> result(v.size());
    const Eigen::Map<const Eigen::VectorXd> from(v.data(), static_cast<Eigen::Index>(v.size()));
    Eigen::Map<Eigen::VectorXd> to(result.data(), from.size());
    for (const FreeBlock& block : *blocks) {
      const Eigen::VectorXd own = from(block.parameters);
      const Eigen::VectorXd solved = block.factors.Solve(own);
      to(block.parameters) = solved;
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
