// SPDX-License-Identifier: Apache-2.0
#include "optim/simplex_newton.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "optim/decompositions.h"

namespace segcal {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// A curvature below this share of the largest counts as this share: the model stays bounded where
// the function is flat.
constexpr double kFlattest = 1e-10;
// Of the decrease that the slope promises, what a step must keep.
constexpr double kSufficient = 1e-4;
// A shortened step that promises less than this is not worth an evaluation.
constexpr double kNegligible = 1e-13;

// Orthonormal basis of the directions that keep the sum of the weights: t, and Helmert's contrasts.
MatrixXd TangentBasis(Index size) {
  const Index k = size - 1;
  MatrixXd basis = MatrixXd::Zero(size, k);
  basis(0, 0) = 1.0;
  for (Index j = 1; j < k; ++j) {
    const auto n = static_cast<double>(j);
    const double scale = 1.0 / std::sqrt(n * (n + 1.0));
    for (Index i = 1; i <= j; ++i) basis(i, j) = scale;
    basis(j + 1, j) = -n * scale;
  }
  return basis;
}

// The Hessian on the tangent space with the absolute values of its eigenvalues. Lazy products of
// these small matrices spare the compiler those of large ones.
MatrixXd ConvexModel(const MatrixXd& hessian) {
  const MatrixXd basis = TangentBasis(hessian.rows());
  const SymmetricParts parts =
      DecomposeSymmetric(basis.transpose().lazyProduct(MatrixXd(hessian.lazyProduct(basis))));
  VectorXd curvature = parts.values.cwiseAbs();
  const double floor = std::max(kFlattest * curvature.maxCoeff(), 1e-300);
  curvature = curvature.cwiseMax(floor);
  const MatrixXd directions = basis.lazyProduct(parts.vectors);
  return (directions * curvature.asDiagonal()).lazyProduct(directions.transpose());
}

// The minimiser of g s + s'Hs/2 over the set shifted to x.
class QuadraticModel {
 public:
  QuadraticModel(const SimplexPoint& at, const SimplexNewtonOptions& options)
      : at_(at), hessian_(ConvexModel(at.hessian)), options_(options) {}

  VectorXd Step() const {
    const Index k = at_.x.size() - 1;
    VectorXd best = VectorXd::Zero(at_.x.size());
    double lowest = 0.0;
    for (Index support = 1; support < (Index{1} << k); ++support) {
      for (const auto& t :
           {std::optional<double>(), Bound(options_.lower), Bound(options_.upper)}) {
        const VectorXd step = OnFace(support, t);
        const double change = Change(step);
        if (!(change < lowest) || !Feasible(step)) continue;
        lowest = change;
        best = step;
      }
    }
    return best;
  }

  double Change(const VectorXd& step) const {
    return at_.gradient.dot(step) + 0.5 * step.dot(hessian_ * step);
  }

 private:
  static std::optional<double> Bound(double t) { return t; }

  // Weights outside `support` go to 0, t to its bound if there is one; the rest is free but for its
  // sum: a linear system with one multiplier.
  VectorXd OnFace(Index support, const std::optional<double>& t) const {
    VectorXd step = VectorXd::Zero(at_.x.size());
    std::vector<Index> free;
    if (t) {
      step(0) = *t - at_.x(0);
    } else {
      free.push_back(0);
    }
    for (Index i = 1; i < at_.x.size(); ++i) {
      if ((support >> (i - 1)) & 1) {
        free.push_back(i);
      } else {
        step(i) = -at_.x(i);
      }
    }
    const auto n = static_cast<Index>(free.size());
    const VectorXd slope = at_.gradient + hessian_ * step;
    MatrixXd system = MatrixXd::Zero(n + 1, n + 1);
    VectorXd right(n + 1);
    for (Index a = 0; a < n; ++a) {
      for (Index b = 0; b < n; ++b) system(a, b) = hessian_(free[a], free[b]);
      system(a, n) = system(n, a) = free[a] == 0 ? 0.0 : 1.0;
      right(a) = -slope(free[a]);
    }
    right(n) = -step.tail(step.size() - 1).sum();
    const VectorXd solution = SolveSquare(system, right);
    for (Index a = 0; a < n; ++a) step(free[a]) = solution(a);
    return step;
  }

  bool Feasible(const VectorXd& step) const {
    const VectorXd x = at_.x + step;
    const Index k = x.size() - 1;
    return x.allFinite() && x(0) >= options_.lower - 1e-12 && x(0) <= options_.upper + 1e-12 &&
           x.tail(k).minCoeff() >= -1e-12 && std::fabs(x.tail(k).sum() - 1.0) <= 1e-9;
  }

  const SimplexPoint& at_;
  MatrixXd hessian_;
  const SimplexNewtonOptions& options_;
};

// Removes what rounding left outside of the set, and weights too small to count.
VectorXd Cleaned(VectorXd x, const SimplexNewtonOptions& options) {
  x(0) = std::clamp(x(0), options.lower, options.upper);
  auto weights = x.tail(x.size() - 1);
  for (double& w : weights) w = w < options.smallest_weight ? 0.0 : w;
  weights /= weights.sum();
  return x;
}

double ProjectedGradient(const SimplexPoint& at, const SimplexNewtonOptions& options) {
  const Index k = at.x.size() - 1;
  const double t = std::clamp(at.x(0) - at.gradient(0), options.lower, options.upper);
  const VectorXd w = ProjectOnSimplex(at.x.tail(k) - at.gradient.tail(k));
  return std::max(std::fabs(t - at.x(0)), (w - at.x.tail(k)).cwiseAbs().maxCoeff());
}

class Minimizer {
 public:
  Minimizer(const std::function<SimplexPoint(const VectorXd&)>& evaluate,
            const SimplexPoint& start,
            const SimplexNewtonOptions& options)
      : evaluate_(evaluate), options_(options), result_{.point = start} {}

  SimplexNewtonResult Run() {
    for (;;) {
      const QuadraticModel model(result_.point, options_);
      const VectorXd step = model.Step();
      result_.projected_gradient = ProjectedGradient(result_.point, options_);
      result_.newton_decrement = std::sqrt(std::max(0.0, -result_.point.gradient.dot(step)));
      const bool flat = result_.projected_gradient <= options_.gradient_tolerance;
      if (flat && -model.Change(step) <= std::max(options_.decrease_tolerance, options_.noise)) {
        result_.converged = true;
        return result_;
      }
      if (!Descend(step)) {
        result_.converged = flat;
        return result_;
      }
    }
  }

 private:
  // A clear descent of the value; or, where rounding hides it, of the slope along the step: a trial
  // that has not gone up to the far side of a valley (Hager and Zhang's approximate rule).
  bool Accepts(const SimplexPoint& trial, double share, const VectorXd& step) const {
    const SimplexPoint& from = result_.point;
    const double slope = from.gradient.dot(step);
    const double rise = trial.value - from.value;
    if (rise <= kSufficient * share * slope && rise < -options_.noise) return true;
    return rise <= options_.noise &&
           trial.gradient.dot(step) <= (1.0 - 2.0 * kSufficient) * std::fabs(slope);
  }

  // Halves the step until it is accepted; false if it never does or evaluations run out.
  bool Descend(const VectorXd& step) {
    const double slope = result_.point.gradient.dot(step);
    for (double share = 1.0; share == 1.0 || share * -slope > kNegligible; share *= 0.5) {
      if (!(slope < 0.0) || result_.evaluations == options_.max_evaluations) return false;
      const SimplexPoint trial = evaluate_(Cleaned(result_.point.x + share * step, options_));
      ++result_.evaluations;
      if (!Accepts(trial, share, step)) continue;
      result_.point = trial;
      return true;
    }
    return false;
  }

  const std::function<SimplexPoint(const VectorXd&)>& evaluate_;
  const SimplexNewtonOptions& options_;
  SimplexNewtonResult result_;
};

}  // namespace

Eigen::VectorXd ProjectOnSimplex(const Eigen::VectorXd& w) {
  std::vector<double> sorted(w.begin(), w.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0.0;
  double shift = 0.0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double candidate = (sum - 1.0) / static_cast<double>(i + 1);
    if (sorted[i] > candidate) shift = candidate;
  }
  return (w.array() - shift).max(0.0);
}

SimplexNewtonResult MinimizeOnSimplex(
    const std::function<SimplexPoint(const Eigen::VectorXd& x)>& evaluate,
    const SimplexPoint& start,
    const SimplexNewtonOptions& options) {
  return Minimizer(evaluate, start, options).Run();
}

}  // namespace segcal
