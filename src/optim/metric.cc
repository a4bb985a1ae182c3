// SPDX-License-Identifier: Apache-2.0
#include "optim/metric.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <deque>

namespace segcal {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Curvature below this share of what the metric says teaches nothing but rounding.
constexpr double kLeastCurvature = 1e-10;

// Relative damping that makes a semi-definite Hessian definite without changing the step.
constexpr double kDamping = 1e-12;

std::vector<Eigen::Index> Indices(const std::vector<char>& free) {
  std::vector<Eigen::Index> indices;
  for (size_t i = 0; i < free.size(); ++i) {
    if (free[i] != 0) indices.push_back(static_cast<Eigen::Index>(i));
  }
  return indices;
}

// -H^-1 g on the free variables, 0 on the others.
std::vector<double> FreeStep(const std::vector<double>& hessian,
                             const std::vector<double>& gradient,
                             const std::vector<char>& free,
                             double damping) {
  const std::vector<Eigen::Index> indices = Indices(free);
  const auto n = static_cast<Eigen::Index>(indices.size());
  const auto size = static_cast<Eigen::Index>(gradient.size());
  const Eigen::Map<const Matrix> full(hessian.data(), size, size);
  std::vector<double> step(gradient.size(), 0.0);
  if (n == 0) return step;
  Matrix h(n, n);
  Eigen::VectorXd g(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::Index from = indices[static_cast<size_t>(i)];
    g[i] = gradient[static_cast<size_t>(from)];
    for (Eigen::Index j = 0; j < n; ++j) h(i, j) = full(from, indices[static_cast<size_t>(j)]);
  }
  const double largest = std::max(h.diagonal().maxCoeff(), 1e-300);
  // A semi-definite matrix may need more than was asked for; tenfold until the factors exist.
  for (double add = damping * largest;; add = std::max(10.0 * add, 1e-14 * largest)) {
    Matrix shifted = h;
    shifted.diagonal().array() += add;
    const Eigen::LLT<Matrix> llt(shifted);
    if (llt.info() != Eigen::Success && add <= largest) continue;
    const Eigen::VectorXd p = llt.solve(g);
    for (Eigen::Index i = 0; i < n; ++i) {
      step[static_cast<size_t>(indices[static_cast<size_t>(i)])] = -p[i];
    }
    return step;
  }
}

// Sets of active bounds tried before the last one is taken as good enough.
constexpr int kMaxActiveSets = 30;

// Which bound every variable stands at in the minimum over the box.
enum class Bound : char { kNone, kLower, kUpper };

std::vector<Bound> PressedBounds(const Box& box,
                                 const std::vector<double>& point,
                                 const std::vector<double>& gradient) {
  const std::vector<char> free = box.Free(point, gradient);
  std::vector<Bound> bounds(point.size(), Bound::kNone);
  for (size_t i = 0; i < point.size(); ++i) {
    if (free[i] == 0) bounds[i] = point[i] <= box.lower[i] ? Bound::kLower : Bound::kUpper;
  }
  return bounds;
}

// The bound a variable belongs to, given its step and the slope of the quadratic after it.
Bound NextBound(const Box& box, size_t i, Bound now, double moved, double slope) {
  if (box.lower[i] >= box.upper[i]) return now;
  if (now == Bound::kNone && moved < box.lower[i]) return Bound::kLower;
  if (now == Bound::kNone && moved > box.upper[i]) return Bound::kUpper;
  if (now == Bound::kLower && slope < 0.0) return Bound::kNone;
  if (now == Bound::kUpper && slope > 0.0) return Bound::kNone;
  return now;
}

class DenseMetric final : public Metric {
 public:
  explicit DenseMetric(std::vector<double> hessian) : hessian_(std::move(hessian)) {}

  std::vector<double> Step(const Box& box,
                           const std::vector<double>& point,
                           const std::vector<double>& gradient) const override {
    return NewtonStep(hessian_, box, point, gradient, kDamping);
  }
  void Learn(const std::vector<double>& move, const std::vector<double>& change) override {
    const auto n = static_cast<Eigen::Index>(move.size());
    Eigen::Map<Matrix> b(hessian_.data(), n, n);
    const Eigen::Map<const Eigen::VectorXd> s(move.data(), n);
    const Eigen::Map<const Eigen::VectorXd> y(change.data(), n);
    const Eigen::VectorXd bs = b * s;
    const double sbs = s.dot(bs);
    const double sy = s.dot(y);
    if (!(sbs > 0.0) || !(sy > kLeastCurvature * sbs)) return;
    b.noalias() += y * y.transpose() / sy - bs * bs.transpose() / sbs;
  }

 private:
  std::vector<double> hessian_;
};

class LimitedMetric final : public Metric {
 public:
  LimitedMetric(std::vector<double> diagonal, int memory)
      : diagonal_(std::move(diagonal)), memory_(static_cast<size_t>(memory)) {
    const double largest = *std::max_element(diagonal_.begin(), diagonal_.end());
    // Directions without curvature in the sample may have some in the data: no endless steps.
    for (double& d : diagonal_) d = std::max(d, 1e-6 * largest);
  }

  // The two-loop recursion, with the pairs restricted to the free variables. Those that the scaled
  // gradient alone takes out of the box go to their bound by it: bent at the box, a step that mixes
  // them with others need not go down.
  std::vector<double> Step(const Box& box,
                           const std::vector<double>& point,
                           const std::vector<double>& gradient) const override {
    std::vector<char> free = box.Free(point, gradient);
    const double scale = Scale(free);
    std::vector<double> q(gradient.size());
    std::vector<double> to_bounds(gradient.size(), 0.0);
    for (size_t i = 0; i < q.size(); ++i) {
      if (free[i] == 0) continue;
      const double step = -scale * gradient[i] / diagonal_[i];
      if (point[i] + step < box.lower[i] || point[i] + step > box.upper[i]) {
        free[i] = 0;
        to_bounds[i] = step;
      } else {
        q[i] = gradient[i];
      }
    }
    std::vector<double> alpha(pairs_.size(), 0.0);
    std::vector<double> rho(pairs_.size(), 0.0);
    for (size_t k = pairs_.size(); k-- > 0;) {
      const double sy = Dot(pairs_[k].move, pairs_[k].change, free);
      const double ss = Dot(pairs_[k].move, pairs_[k].move, free);
      if (!(sy > kLeastCurvature * ss)) continue;
      rho[k] = 1.0 / sy;
      alpha[k] = rho[k] * Dot(pairs_[k].move, q, free);
      Add(-alpha[k], pairs_[k].change, free, &q);
    }
    for (size_t i = 0; i < q.size(); ++i) q[i] *= scale / diagonal_[i];
    for (size_t k = 0; k < pairs_.size(); ++k) {
      if (rho[k] == 0.0) continue;
      const double beta = rho[k] * Dot(pairs_[k].change, q, free);
      Add(alpha[k] - beta, pairs_[k].move, free, &q);
    }
    for (size_t i = 0; i < q.size(); ++i) q[i] = to_bounds[i] - q[i];
    return q;
  }
  void Learn(const std::vector<double>& move, const std::vector<double>& change) override {
    double sy = 0.0;
    double sds = 0.0;
    for (size_t i = 0; i < move.size(); ++i) {
      sy += move[i] * change[i];
      sds += move[i] * move[i] * diagonal_[i];
    }
    if (!(sds > 0.0) || !(sy > kLeastCurvature * sds)) return;
    if (pairs_.size() == memory_) pairs_.pop_front();
    pairs_.push_back({move, change});
  }

 private:
  struct Pair {
    std::vector<double> move;
    std::vector<double> change;
  };

  // How much less curvature the diagonal has than the last move found: with features that go
  // together the diagonal alone has too little by their number.
  double Scale(const std::vector<char>& free) const {
    if (pairs_.empty()) return 1.0;
    const Pair& last = pairs_.back();
    const double sy = Dot(last.move, last.change, free);
    double yy = 0.0;
    for (size_t i = 0; i < free.size(); ++i)
      yy += free[i] != 0 ? last.change[i] * last.change[i] / diagonal_[i] : 0.0;
    return sy > 0.0 && yy > 0.0 ? sy / yy : 1.0;
  }

  static double Dot(const std::vector<double>& a,
                    const std::vector<double>& b,
                    const std::vector<char>& free) {
    double sum = 0.0;
    for (size_t i = 0; i < a.size(); ++i) sum += free[i] != 0 ? a[i] * b[i] : 0.0;
    return sum;
  }
  static void Add(double factor,
                  const std::vector<double>& x,
                  const std::vector<char>& free,
                  std::vector<double>* y) {
    for (size_t i = 0; i < x.size(); ++i) (*y)[i] += free[i] != 0 ? factor * x[i] : 0.0;
  }

  std::vector<double> diagonal_;
  size_t memory_;
  std::deque<Pair> pairs_;
};

}  // namespace

std::unique_ptr<Metric> MakeDenseMetric(std::vector<double> hessian) {
  return std::make_unique<DenseMetric>(std::move(hessian));
}

std::unique_ptr<Metric> MakeLimitedMetric(std::vector<double> diagonal, int memory) {
  return std::make_unique<LimitedMetric>(std::move(diagonal), memory);
}

// Primal-dual active sets: with some variables at bounds the others have a closed minimum; those
// that it takes out of the box join a bound, those whose bound holds them back leave it.
std::vector<double> NewtonStep(const std::vector<double>& hessian,
                               const Box& box,
                               const std::vector<double>& point,
                               const std::vector<double>& gradient,
                               double damping) {
  const auto n = static_cast<Eigen::Index>(point.size());
  const Eigen::Map<const Matrix> h(hessian.data(), n, n);
  std::vector<Bound> bounds = PressedBounds(box, point, gradient);
  std::vector<double> step;
  for (int round = 0; round < kMaxActiveSets; ++round) {
    Eigen::VectorXd to_bounds = Eigen::VectorXd::Zero(n);
    std::vector<char> free(point.size());
    for (size_t i = 0; i < point.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      free[i] = bounds[i] == Bound::kNone ? 1 : 0;
      if (bounds[i] == Bound::kLower) to_bounds[at] = box.lower[i] - point[i];
      if (bounds[i] == Bound::kUpper) to_bounds[at] = box.upper[i] - point[i];
    }
    const Eigen::Map<const Eigen::VectorXd> g(gradient.data(), n);
    const Eigen::VectorXd pulled = g + h * to_bounds;
    step = FreeStep(hessian, {pulled.data(), pulled.data() + n}, free, damping);
    for (size_t i = 0; i < point.size(); ++i) step[i] += to_bounds[static_cast<Eigen::Index>(i)];
    const Eigen::VectorXd slope = g + h * Eigen::Map<const Eigen::VectorXd>(step.data(), n);
    bool settled = true;
    for (size_t i = 0; i < point.size(); ++i) {
      const Bound next =
          NextBound(box, i, bounds[i], point[i] + step[i], slope[static_cast<Eigen::Index>(i)]);
      settled = settled && next == bounds[i];
      bounds[i] = next;
    }
    if (settled) break;
  }
  return step;
}

}  // namespace segcal
