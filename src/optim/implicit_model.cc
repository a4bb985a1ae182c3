// SPDX-License-Identifier: Apache-2.0
#include "optim/implicit_model.h"

#include "optim/secant_update.h"
#include "optim/vectors.h"

namespace segcal {
namespace {

using Vector = Eigen::VectorXd;

// A step ends where its slope is this share of the first one: what is left is less than how far the
// matrix, of a sample, is from the truth.
constexpr double kSlopeShare = 0.1;

// Sets of held variables in one step, and how often more are added to one; few that would leave the
// box, one of so many, are bent back into it instead.
constexpr int kMaxFaces = 30;
constexpr int kMaxHolds = 10;
constexpr Eigen::Index kFewOf = 1000;

// Products in one step: more are the sign of a slope that is rounding.
constexpr int kMaxProducts = 400;

// Of a step that does not descend: shorter ones are not worth their products.
constexpr int kMaxHalvings = 14;

Vector Apply(const Product& product, const Vector& v) {
  const std::vector<double> result = product(Copy(v));
  return View(result);
}

Vector Restricted(Vector v, const std::vector<char>& free) {
  for (size_t i = 0; i < free.size(); ++i) {
    if (free[i] == 0) v[static_cast<Eigen::Index>(i)] = 0.0;
  }
  return v;
}

// The end of a step, with slope and value of the quadratic there.
struct StepEnd {
  std::vector<double> point;
  Vector slope;
  double value = 0.0;
};

// Takes the variables at a bound that a step would take out of the box from the free ones; how
// many.
Eigen::Index HoldBack(const Box& box,
                      const std::vector<double>& point,
                      const Vector& step,
                      std::vector<char>* free) {
  Eigen::Index held = 0;
  for (size_t i = 0; i < point.size(); ++i) {
    const double d = step[static_cast<Eigen::Index>(i)];
    const bool outward =
        (point[i] <= box.lower[i] && d < 0.0) || (point[i] >= box.upper[i] && d > 0.0);
    if ((*free)[i] == 0 || !outward) continue;
    (*free)[i] = 0;
    ++held;
  }
  return held;
}

// The free variables without those at a bound that stay there in the preconditioner's step. Those
// that their slope presses against a bound stay: a step that takes some of them along may not
// descend.
std::vector<char> FreeFor(const Box& box,
                          const Preconditioner& preconditioner,
                          const StepEnd& from) {
  const std::vector<double> slope = Copy(from.slope);
  std::vector<char> free = box.Free(from.point, slope);
  std::vector<size_t> at_bound;
  for (size_t i = 0; i < free.size(); ++i) {
    const double x = from.point[i];
    if (free[i] != 0 && (x <= box.lower[i] || x >= box.upper[i])) at_bound.push_back(i);
  }
  if (at_bound.empty()) return free;
  const std::vector<double> step = preconditioner.Step(box, from.point, slope);
  for (const size_t i : at_bound) free[i] = step[i] != 0.0 ? 1 : 0;
  return free;
}

class ImplicitModel final : public QuadraticModel {
 public:
  explicit ImplicitModel(ImplicitMatrix matrix) : matrix_(std::move(matrix)) {}

  // Goes to about the minimum over the variables that no bound holds, looks again which are held,
  // and goes on from there.
  std::vector<double> Step(const Box& box,
                           const std::vector<double>& point,
                           const std::vector<double>& gradient,
                           double /*damping*/) const override {
    const double enough = kSlopeShare * box.ProjectedNorm(point, gradient);
    if (enough == 0.0) return std::vector<double>(point.size(), 0.0);
    const std::shared_ptr<const Preconditioner> preconditioner = matrix_.preconditioner();
    StepEnd end{.point = point, .slope = View(gradient), .value = 0.0};
    int products = 0;
    for (int face = 0; face < kMaxFaces && products < kMaxProducts; ++face) {
      const Vector step = FaceStep(box, *preconditioner, end, 0.5 * enough, &products);
      if (!Descend(box, point, gradient, step, &end)) break;
      if (box.ProjectedNorm(end.point, Copy(end.slope)) <= enough) break;
    }
    return Copy(View(end.point) - View(point));
  }
  void Update(const std::vector<double>& move, const std::vector<double>& change) override {
    SecantUpdate update = MakeSecantUpdate(View(move), View(change), MultiplyAll(View(move)));
    if (!update.valid) return;
    updates_.push_back({.vector = std::move(update.y), .factor = 1.0 / update.sy});
    updates_.push_back({.vector = std::move(update.bs), .factor = -1.0 / update.sbs});
  }

 private:
  // A term factor v v^T of the matrix.
  struct RankOne {
    Vector vector;
    double factor = 0.0;
  };

  // The product with a vector, on the free variables.
  Vector Multiply(const Vector& v, const std::vector<char>& free) const {
    const std::vector<double> known = matrix_.multiply(Copy(v), free);
    Vector result = View(known);
    for (const RankOne& term : updates_) result += (term.factor * term.vector.dot(v)) * term.vector;
    return Restricted(std::move(result), free);
  }
  Vector MultiplyAll(const Vector& v) const {
    return Multiply(v, std::vector<char>(static_cast<size_t>(v.size()), 1));
  }

  // The preconditioner tells which variables stay at their bound. Where others at a bound would
  // leave the box the minimum without them counts.
  Vector FaceStep(const Box& box,
                  const Preconditioner& preconditioner,
                  const StepEnd& from,
                  double enough,
                  int* products) const {
    std::vector<char> free = FreeFor(box, preconditioner, from);
    if (Restricted(from.slope, free).norm() <= enough) {  // what moves is done; what stays is not
      free = box.Free(from.point, Copy(from.slope));
    }
    Vector step = Vector::Zero(from.slope.size());
    for (int hold = 0; hold <= kMaxHolds; ++hold) {
      step = FreeStep(
          preconditioner.Inverse(free), from.slope, std::move(step), free, enough, products);
      if (HoldBack(box, from.point, step, &free) <= step.size() / kFewOf) break;
    }
    return step;
  }

  // Goes along a step, bent at the box and halved until the quadratic is lower; false if it is not.
  bool Descend(const Box& box,
               const std::vector<double>& point,
               const std::vector<double>& gradient,
               const Vector& step,
               StepEnd* end) const {
    double length = 1.0;
    for (int i = 0; i < kMaxHalvings; ++i, length *= 0.5) {
      StepEnd next{.point = Copy(View(end->point) + length * step), .slope = {}, .value = 0.0};
      box.Clamp(&next.point);
      const Vector total = View(next.point) - View(point);
      next.slope = View(gradient) + MultiplyAll(total);
      next.value = 0.5 * total.dot(View(gradient) + next.slope);
      if (!(next.value < end->value)) continue;
      *end = std::move(next);
      return true;
    }
    return false;
  }

  // Conjugate gradients on the free variables from a first step on, until the slope there is at
  // most `enough` or the step has had its products.
  Vector FreeStep(const Product& inverse,
                  const Vector& slope,
                  Vector step,
                  const std::vector<char>& free,
                  double enough,
                  int* products) const {
    step = Restricted(std::move(step), free);
    Vector left = Restricted(-slope, free);
    if (!step.isZero(0.0)) {
      left -= Multiply(step, free);
      ++*products;
    }
    Vector scaled = Apply(inverse, left);
    Vector direction = scaled;
    double size = left.dot(scaled);
    for (; *products < kMaxProducts && left.norm() > enough; ++*products) {
      const Vector product = Multiply(direction, free);
      const double curvature = direction.dot(product);
      if (!(curvature > 0.0)) break;
      step += (size / curvature) * direction;
      left -= (size / curvature) * product;
      scaled = Apply(inverse, left);
      const double next = left.dot(scaled);
      direction = scaled + (next / size) * direction;
      size = next;
    }
    return step;
  }

  ImplicitMatrix matrix_;
  std::vector<RankOne> updates_;
};

}  // namespace

std::unique_ptr<QuadraticModel> MakeImplicitModel(ImplicitMatrix matrix) {
  return std::make_unique<ImplicitModel>(std::move(matrix));
}

}  // namespace segcal
