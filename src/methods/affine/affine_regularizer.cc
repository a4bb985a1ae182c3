// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_regularizer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace segcal {
namespace {

// Row by row: (X z) for one row of features, extended to all classes: gaps are differences of
// logits.
void ExtendFeatures(const AffineShape& shape, const double* row, double* out) {
  const int64_t num_classes = shape.num_classes;
  for (int64_t c = 0; c < num_classes; ++c) out[c] = 0.0;
  for (int64_t k = 0; k + 1 < shape.num_features(); ++k) {
    switch (shape.space) {
      case AffineSpace::kWinnerGaps:  // z_0 - z_{k+1}, the winner at position 0
        out[0] += row[k];
        out[k + 1] -= row[k];
        break;
      case AffineSpace::kSortedGaps:  // z_k - z_{k+1}
        out[k] += row[k];
        out[k + 1] -= row[k];
        break;
      case AffineSpace::kDifferences:  // z_k - z_last
        out[k] += row[k];
        out[num_classes - 1] -= row[k];
        break;
      case AffineSpace::kRaw:
      case AffineSpace::kLogProbs:
        out[k] = row[k] / shape.scale;
        break;
    }
  }
}

// The transpose of ExtendFeatures.
void ContractFeatures(const AffineShape& shape, const double* in, double* row) {
  for (int64_t k = 0; k + 1 < shape.num_features(); ++k) {
    switch (shape.space) {
      case AffineSpace::kWinnerGaps:
        row[k] = in[0] - in[k + 1];
        break;
      case AffineSpace::kSortedGaps:
        row[k] = in[k] - in[k + 1];
        break;
      case AffineSpace::kDifferences:
        row[k] = in[k] - in[shape.num_classes - 1];
        break;
      case AffineSpace::kRaw:
      case AffineSpace::kLogProbs:
        row[k] = in[k] / shape.scale;
        break;
    }
  }
}

// scores = M rows for matrices with `width` columns: rows as they are, or minus the (cumulated)
// gaps.
std::vector<double> ScoresOfRows(const AffineShape& shape,
                                 const std::vector<double>& rows,
                                 int64_t width) {
  if (!shape.gaps()) return rows;
  std::vector<double> scores(static_cast<size_t>(shape.num_classes * width), 0.0);
  const bool cumulate = shape.space == AffineSpace::kSortedGaps;
  for (int64_t r = 0; r < shape.num_rows(); ++r) {
    for (int64_t k = 0; k < width; ++k) {
      const double above = cumulate ? scores[static_cast<size_t>(r * width + k)] : 0.0;
      scores[static_cast<size_t>((r + 1) * width + k)] =
          above - rows[static_cast<size_t>(r * width + k)];
    }
  }
  return scores;
}

std::vector<double> RowsOfScores(const AffineShape& shape,
                                 const std::vector<double>& scores,
                                 int64_t width) {
  if (!shape.gaps()) return scores;
  std::vector<double> rows(static_cast<size_t>(shape.num_rows() * width));
  const bool cumulate = shape.space == AffineSpace::kSortedGaps;
  for (int64_t r = shape.num_rows(); r-- > 0;) {
    for (int64_t k = 0; k < width; ++k) {
      const double below = cumulate && r + 1 < shape.num_rows()
                               ? rows[static_cast<size_t>((r + 1) * width + k)]
                               : 0.0;
      rows[static_cast<size_t>(r * width + k)] =
          below - scores[static_cast<size_t>((r + 1) * width + k)];
    }
  }
  return rows;
}

}  // namespace

AffineRegularizer::AffineRegularizer(const AffineShape& shape, const Penalty& penalty)
    : shape_(shape), penalty_(penalty), fixed_gauge_(penalty.paper && shape.gaps()) {
  if (!penalty.paper) return;
  const auto experts = static_cast<double>(shape.num_experts());
  for (double* strength : {&penalty_.lambda, &penalty_.mu, &penalty_.kappa}) *strength /= experts;
}

// The best shift of a column, which leaves probabilities as they are: zero slope of
// lambda' sum_{j != k} (W_jk + c)^2 + kappa (W_kk + c - anchor)^2.
double AffineRegularizer::Gauge(const std::vector<double>& weights, int64_t column) const {
  if (shape_.diagonal) return 0.0;  // a shift would leave the diagonal
  if (fixed_gauge_) return column == 0 ? winner_ : 0.0;
  const int64_t n = shape_.num_classes;
  const double off = OffDiagonal();
  const double total = off * static_cast<double>(n - 1) + penalty_.kappa;
  if (total <= 0.0) return 0.0;
  double sum = 0.0;
  for (int64_t j = 0; j < n; ++j) {
    const double w = weights[static_cast<size_t>(j * n + column)];
    sum += j == column ? penalty_.kappa * (w - penalty_.anchor) : off * w;
  }
  return -sum / total;
}

// At the fixed gauge the anchor is a map like any other, whose rows leave the winner's weight of
// itself as it is: off the diagonal lambda pulls to 0 and kappa to the anchor, together to between.
AffineRegularizer::Target AffineRegularizer::TargetOf(int64_t row, int64_t column) const noexcept {
  if (row == column) {
    const bool winner = fixed_gauge_ && row == 0;
    return {.strength = penalty_.kappa, .value = winner ? winner_ : penalty_.anchor, .least = 0.0};
  }
  const double strength = OffDiagonal();
  if (!fixed_gauge_ || column != 0 || strength <= 0.0)
    return {.strength = strength, .value = 0.0, .least = 0.0};
  const double anchor = winner_ - penalty_.anchor;
  const double value = penalty_.kappa * anchor / strength;
  return {.strength = strength,
          .value = value,
          .least = penalty_.kappa * anchor * anchor - strength * value * value};
}

// W (z - centre) + b, as W z + b: from the bias at the centre to that at zero (A10), and the slopes
// with respect to both back.
void AffineRegularizer::BiasAtZero(Assembled* map) const {
  const auto n = static_cast<size_t>(shape_.num_classes);
  for (size_t j = 0; j < n; ++j) {
    for (size_t k = 0; k < n; ++k) map->bias[j] -= shape_.centre * map->weights[j * n + k];
  }
}
void AffineRegularizer::LocateSlopes(Assembled* slopes) const {
  const auto n = static_cast<size_t>(shape_.num_classes);
  for (size_t j = 0; j < n; ++j) {
    for (size_t k = 0; k < n; ++k) slopes->weights[j * n + k] -= shape_.centre * slopes->bias[j];
  }
}

double AffineRegularizer::OffDiagonal() const noexcept {
  const auto n = static_cast<double>(shape_.num_classes);
  return (n > 1.0 ? penalty_.lambda / (n * (n - 1.0)) : 0.0) + penalty_.kappa;
}

double AffineRegularizer::BiasStrength() const noexcept {
  return penalty_.mu / static_cast<double>(shape_.num_classes) + penalty_.kappa;
}

AffineRegularizer::Assembled AffineRegularizer::Assemble(
    const std::vector<double>& parameters) const {
  const int64_t n = shape_.num_classes;
  const int64_t num_features = shape_.num_features();
  std::vector<double> rows(static_cast<size_t>(shape_.num_rows() * n));
  std::vector<double> bias_rows(static_cast<size_t>(shape_.num_rows()));
  for (int64_t r = 0; r < shape_.num_rows(); ++r) {
    ExtendFeatures(shape_, parameters.data() + r * num_features, rows.data() + r * n);
    bias_rows[static_cast<size_t>(r)] = parameters[static_cast<size_t>((r + 1) * num_features - 1)];
  }
  Assembled map{.weights = ScoresOfRows(shape_, rows, n),
                .bias = ScoresOfRows(shape_, bias_rows, 1)};
  for (int64_t k = 0; k < n; ++k) {
    const double shift = Gauge(map.weights, k);
    for (int64_t j = 0; j < n; ++j) map.weights[static_cast<size_t>(j * n + k)] += shift;
  }
  if (fixed_gauge_) return map;
  if (shape_.centre != 0.0) BiasAtZero(&map);
  double mean = 0.0;
  for (const double b : map.bias) mean += b / static_cast<double>(n);
  if (BiasStrength() > 0.0) {
    for (double& b : map.bias) b -= mean;
  }
  return map;
}

// At the best gauge the derivative with respect to it is zero, so the gradient is that of the
// penalty with the gauge held (A6).
Value AffineRegularizer::Evaluate(const std::vector<double>& parameters) const {
  const int64_t n = shape_.num_classes;
  Assembled map = Assemble(parameters);
  Value result;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t k = 0; k < n; ++k) {
      double& w = map.weights[static_cast<size_t>(j * n + k)];
      const Target target = TargetOf(j, k);
      const double distance = w - target.value;
      result.value += target.strength * distance * distance + target.least;
      w = 2.0 * target.strength * distance;
    }
    double& b = map.bias[static_cast<size_t>(j)];
    result.value += BiasStrength() * b * b;
    b *= 2.0 * BiasStrength();
  }
  if (shape_.centre != 0.0) LocateSlopes(&map);
  const std::vector<double> rows = RowsOfScores(shape_, map.weights, n);
  const std::vector<double> bias_rows = RowsOfScores(shape_, map.bias, 1);
  result.gradient.resize(parameters.size());
  for (int64_t r = 0; r < shape_.num_rows(); ++r) {
    double* row = result.gradient.data() + r * shape_.num_features();
    ContractFeatures(shape_, rows.data() + r * n, row);
    row[shape_.num_features() - 1] = bias_rows[static_cast<size_t>(r)];
  }
  return result;
}

// The gradient is affine in the parameters, and linear where the anchor and a fixed gauge are zero.
std::vector<double> AffineRegularizer::Product(const std::vector<double>& direction) const {
  AffineRegularizer linear = *this;
  linear.penalty_.anchor = 0.0;
  linear.winner_ = 0.0;
  return linear.Evaluate(direction).gradient;
}

std::vector<double> AffineRegularizer::Hessian() const {
  const auto n = static_cast<size_t>(shape_.num_parameters());
  std::vector<double> hessian(n * n);
  for (size_t i = 0; i < n; ++i) {
    std::vector<double> unit(n, 0.0);
    unit[i] = 1.0;
    const std::vector<double> column = Product(unit);
    for (size_t j = 0; j < n; ++j) hessian[j * n + i] = column[j];
  }
  return hessian;
}

// Where all weights are held alike the penalty is o |P (W - W0)|^2, P as below, and its Hessian the
// Kronecker product of 2 M^T P M and o X X^T. Column r of M is zero but for its `ones(r)` ones.
double AffineRegularizer::RowCurvature(int64_t r, int64_t s) const noexcept {
  const bool cumulate = shape_.space == AffineSpace::kSortedGaps;
  const auto ones = [&](int64_t row) {
    return cumulate ? static_cast<double>(shape_.num_rows() - row) : 1.0;
  };
  const double common = cumulate || r == s ? std::min(ones(r), ones(s)) : 0.0;
  if (fixed_gauge_) return 2.0 * common;
  return 2.0 * (common - ones(r) * ones(s) / static_cast<double>(shape_.num_classes));
}

std::vector<double> AffineRegularizer::FeatureCurvature() const {
  const int64_t num_features = shape_.num_features();
  std::vector<double> products(static_cast<size_t>(num_features * num_features), 0.0);
  std::vector<double> extended(static_cast<size_t>(shape_.num_classes));
  for (int64_t k = 0; k + 1 < num_features; ++k) {
    double* of_feature = products.data() + k * num_features;
    of_feature[k] = OffDiagonal();
    ExtendFeatures(shape_, of_feature, extended.data());
    ContractFeatures(shape_, extended.data(), of_feature);
  }
  products.back() = BiasStrength();
  if (shape_.centre != 0.0) AddBiasAtZero(&products);
  return products;
}

// The bias at zero depends on every weight of its row.
void AffineRegularizer::AddBiasAtZero(std::vector<double>* products) const {
  const auto features = static_cast<size_t>(shape_.num_features());
  const double slope = -shape_.centre / shape_.scale;
  for (size_t j = 0; j + 1 < features; ++j) {
    for (size_t k = 0; k + 1 < features; ++k)
      (*products)[j * features + k] += BiasStrength() * slope * slope;
    (*products)[j * features + features - 1] += BiasStrength() * slope;
    (*products)[(features - 1) * features + j] += BiasStrength() * slope;
  }
}

// With the gauge at its best the penalty is at least kappa |P (W - W0)|^2, P the projection that
// takes the mean out of every column, and W = M Theta X: its curvature is nowhere below
// 2 kappa smallest(X X^T) smallest(M^T P M), along directions that change probabilities.
// For gaps below the winner X X^T = I + 11^T and M^T P M = I - 11^T / C. For sorted ones X takes
// differences of neighbours, whose X X^T has the eigenvalues 4 sin^2(pi j / 2C), j < C, and M^T P M
// is its inverse. At a fixed gauge there is no P, and the curvature is larger.
double AffineRegularizer::Convexity() const {
  if (!shape_.gaps() || shape_.num_classes < 2) return 2.0 * penalty_.kappa * LeastStretch();
  const auto n = static_cast<double>(shape_.num_classes);
  if (shape_.space == AffineSpace::kWinnerGaps) return 2.0 * penalty_.kappa / n;
  const double angle = std::numbers::pi / (2.0 * n);
  const double of_features = std::min(1.0, 4.0 * std::sin(angle) * std::sin(angle));
  const double of_rows = 1.0 / (4.0 * std::cos(angle) * std::cos(angle));
  return 2.0 * penalty_.kappa * of_features * of_rows;
}

// A row of located parameters is stretched by T = [[1/s, 0], [-(m/s) 1^T, 1]] to W and b. T T^T has
// the eigenvalue 1/s^2, and two more whose product is 1/s^2 and sum 1/s^2 + 1 + n m^2/s^2, with n
// the weights of the row that are not held; the smallest.
double AffineRegularizer::LeastStretch() const {
  const double unit = 1.0 / (shape_.scale * shape_.scale);
  if (shape_.centre == 0.0) return std::min(1.0, unit);
  const double n = shape_.diagonal ? 1.0 : static_cast<double>(shape_.num_classes);
  const double sum = unit + 1.0 + n * shape_.centre * shape_.centre * unit;
  return std::min(unit, 2.0 * unit / (sum + std::sqrt(sum * sum - 4.0 * unit)));
}

}  // namespace segcal
