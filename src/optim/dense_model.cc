// SPDX-License-Identifier: Apache-2.0
#include "optim/dense_model.h"

#include <algorithm>
#include <cmath>

#include "optim/decompositions.h"
#include "optim/secant_update.h"
#include "optim/vectors.h"

namespace segcal {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Sets of active bounds tried before the last one is taken as good enough.
constexpr int kMaxActiveSets = 30;

// Primal-dual active sets: with some variables at bounds the others have a minimum of their own;
// those that it takes out of the box join a bound, those whose bound holds them back leave it.
class ActiveSet {
 public:
  ActiveSet(const Box& box, const std::vector<double>& point, const std::vector<double>& gradient)
      : box_(box), point_(point), free_(box.Free(point, gradient)), bounds_(point.size()) {
    for (size_t i = 0; i < point.size(); ++i) {
      if (free_[i] == 0) bounds_[i] = point[i] <= box.lower[i] ? Bound::kLower : Bound::kUpper;
    }
  }

  const std::vector<char>& free() const noexcept { return free_; }

  // Makes a step of the variables at bounds end there.
  void PutAtBounds(Vector* step) const {
    for (size_t i = 0; i < point_.size(); ++i) {
      double& d = (*step)[static_cast<Eigen::Index>(i)];
      if (bounds_[i] == Bound::kLower) d = box_.lower[i] - point_[i];
      if (bounds_[i] == Bound::kUpper) d = box_.upper[i] - point_[i];
    }
  }

  // Looks again, given a step and the slope of the quadratic after it. How many changed sides.
  int64_t Change(const Vector& step, const Vector& slope) {
    int64_t changes = 0;
    for (size_t i = 0; i < point_.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      const Bound next = Next(i, point_[i] + step[at], slope[at]);
      changes += next == bounds_[i] ? 0 : 1;
      bounds_[i] = next;
      free_[i] = next == Bound::kNone ? 1 : 0;
    }
    return changes;
  }

 private:
  enum class Bound : char { kNone, kLower, kUpper };

  Bound Next(size_t i, double moved, double slope) const {
    const Bound now = bounds_[i];
    if (box_.lower[i] >= box_.upper[i]) return now;
    if (now == Bound::kNone && moved < box_.lower[i]) return Bound::kLower;
    if (now == Bound::kNone && moved > box_.upper[i]) return Bound::kUpper;
    if (now == Bound::kLower && slope < 0.0) return Bound::kNone;
    if (now == Bound::kUpper && slope > 0.0) return Bound::kNone;
    return now;
  }

  const Box& box_;
  const std::vector<double>& point_;
  std::vector<char> free_;
  std::vector<Bound> bounds_;
};

std::vector<Eigen::Index> Indices(const std::vector<char>& free) {
  std::vector<Eigen::Index> indices;
  for (size_t i = 0; i < free.size(); ++i) {
    if (free[i] != 0) indices.push_back(static_cast<Eigen::Index>(i));
  }
  return indices;
}

class DenseModel final : public QuadraticModel {
 public:
  explicit DenseModel(std::vector<double> hessian)
      : hessian_(std::move(hessian)),
        size_(static_cast<Eigen::Index>(std::llround(std::sqrt(hessian_.size())))) {}

  std::vector<double> Step(const Box& box,
                           const std::vector<double>& point,
                           const std::vector<double>& gradient,
                           double damping) const override {
    ActiveSet active(box, point, gradient);
    const auto g = View(gradient);
    Vector step;
    for (int round = 0; round < kMaxActiveSets; ++round) {
      step = Vector::Zero(size_);
      active.PutAtBounds(&step);
      step += FreeStep(g + full() * step, active.free(), damping);
      if (active.Change(step, g + full() * step) == 0) break;
    }
    return Copy(step);
  }
  void Update(const std::vector<double>& move, const std::vector<double>& change) override {
    Eigen::Map<Matrix> b(hessian_.data(), size_, size_);
    const SecantUpdate update = MakeSecantUpdate(View(move), View(change), b * View(move));
    if (!update.valid) return;
    b.noalias() += update.y * update.y.transpose() / update.sy -
                   update.bs * update.bs.transpose() / update.sbs;
  }

 private:
  Eigen::Map<const Matrix> full() const { return {hessian_.data(), size_, size_}; }

  // -H^-1 slope on the free variables, 0 on the others.
  Vector FreeStep(const Vector& slope, const std::vector<char>& free, double damping) const {
    const std::vector<Eigen::Index> indices = Indices(free);
    Vector step = Vector::Zero(size_);
    if (indices.empty()) return step;
    const Eigen::MatrixXd h = full()(indices, indices);
    const Vector g = slope(indices);
    const double largest = std::max(h.diagonal().maxCoeff(), 1e-300);
    // A semi-definite matrix may need more than was asked for; tenfold until the factors exist.
    for (double add = damping * largest;; add = std::max(10.0 * add, 1e-14 * largest)) {
      Eigen::MatrixXd shifted = h;
      shifted.diagonal().array() += add;
      CholeskyFactors factors;
      if (!factors.Factor(shifted) && add <= largest) continue;
      step(indices) = -factors.Solve(g);
      return step;
    }
  }

  std::vector<double> hessian_;
  Eigen::Index size_;
};

}  // namespace

std::unique_ptr<QuadraticModel> MakeDenseModel(std::vector<double> hessian) {
  return std::make_unique<DenseModel>(std::move(hessian));
}

}  // namespace segcal
