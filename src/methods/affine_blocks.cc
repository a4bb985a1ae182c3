// SPDX-License-Identifier: Apache-2.0
#include "methods/affine_blocks.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <limits>
#include <memory>

namespace segcal {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Added to a block, relative to its largest entry: a sample may have less rank than a row has
// features, and sums of float32 products have that much rounding.
constexpr double kDamping = 1e-7;

// The same relative to the largest entry of all blocks, for rows without curvature.
constexpr double kLeastCurvature = 1e-9;

// The free parameters of one row and the factors of their block.
struct Factor {
  std::vector<Eigen::Index> parameters;
  Eigen::LLT<Eigen::MatrixXd> llt;
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

RowBlocks::RowBlocks(const AffineShape& shape, std::vector<double> blocks)
    : shape_(shape), blocks_(std::move(blocks)) {
  const double largest = *std::max_element(blocks_.begin(), blocks_.end());
  least_curvature_ = std::max(kLeastCurvature * largest, std::numeric_limits<double>::min());
}

Product RowBlocks::On(const std::vector<char>& free) const {
  const int64_t num_features = shape_.num_features();
  auto factors = std::make_shared<std::vector<Factor>>();
  for (int64_t r = 0; r < shape_.num_rows(); ++r) {
    std::vector<Eigen::Index> features;
    Factor factor;
    for (int64_t k = 0; k < num_features; ++k) {
      if (free[static_cast<size_t>(r * num_features + k)] == 0) continue;
      features.push_back(k);
      factor.parameters.push_back(r * num_features + k);
    }
    if (features.empty()) continue;
    const Eigen::Map<const Matrix> block(
        blocks_.data() + r * num_features * num_features, num_features, num_features);
    Eigen::MatrixXd h = block(features, features);
    double add = std::max(kDamping * h.diagonal().maxCoeff(), least_curvature_);
    do {  // tenfold until the factors exist
      h.diagonal().array() += add;
      factor.llt.compute(h);
      add *= 10.0;
    } while (factor.llt.info() != Eigen::Success);
    factors->push_back(std::move(factor));
  }
  return [shape = shape_, free, factors](std::vector<double> v) {
    TakeOutGauge(shape, free, &v);
    std::vector<double> result(v.size());
    const Eigen::Map<const Eigen::VectorXd> from(v.data(), static_cast<Eigen::Index>(v.size()));
    Eigen::Map<Eigen::VectorXd> to(result.data(), from.size());
    for (const Factor& factor : *factors) {
      const Eigen::VectorXd own = from(factor.parameters);
      const Eigen::VectorXd solved = factor.llt.solve(own);
      to(factor.parameters) = solved;
    }
    TakeOutGauge(shape, free, &result);
    return result;
  };
}

}  // namespace segcal
