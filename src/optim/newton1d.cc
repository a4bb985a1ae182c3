// SPDX-License-Identifier: Apache-2.0
#include "optim/newton1d.h"

#include <algorithm>
#include <cmath>

namespace segcal {
namespace {

// Below this share of the upper end of the bracket, bisection stops being logarithmic: the lower
// end is zero and has no logarithm.
constexpr double kLogFloor = 1e-4;

// The root nearest zero of slope + curvature s + third s^2 / 2 = 0, written without cancellation;
// Newton's step where the parabola has no root.
double Step(const Point1D& p) {
  if (!(p.curvature > 0.0)) return p.slope > 0.0 ? -INFINITY : INFINITY;
  const double discriminant = p.curvature * p.curvature - 2.0 * p.third * p.slope;
  if (discriminant <= 0.0) return -p.slope / p.curvature;
  return -2.0 * p.slope / (p.curvature + std::sqrt(discriminant));
}

class Bracket {
 public:
  explicit Bracket(const Newton1DOptions& options)
      : lower_(options.lower), upper_(options.upper), bounds_(options) {}

  void Narrow(const Point1D& p) {
    (p.slope > 0.0 ? upper_ : lower_) = p.x;
    lower_tried_ = lower_tried_ || p.x <= bounds_.lower;
    upper_tried_ = upper_tried_ || p.x >= bounds_.upper;
  }

  // The wanted point if it is inside; a bound if the wanted point is past it and nothing nearer is
  // known; else a point in the middle.
  double Propose(double wanted) const {
    if (wanted > lower_ && wanted < upper_) return wanted;
    if (wanted <= lower_ && lower_ == bounds_.lower && !lower_tried_) return lower_;
    if (wanted >= upper_ && upper_ == bounds_.upper && !upper_tried_) return upper_;
    const double low = std::max(lower_, kLogFloor * upper_);
    return lower_ >= 0.0 && low < upper_ ? std::sqrt(low * upper_) : 0.5 * (lower_ + upper_);
  }
  bool Closed() const { return !(lower_ < upper_); }

 private:
  double lower_;
  double upper_;
  bool lower_tried_ = false;
  bool upper_tried_ = false;
  const Newton1DOptions& bounds_;
};

bool AtBound(const Point1D& p, const Newton1DOptions& options, Newton1DStatus* status) {
  if (p.x <= options.lower && p.slope >= 0.0) {
    *status = Newton1DStatus::kAtLower;
    return true;
  }
  if (p.x >= options.upper && p.slope <= 0.0) {
    *status = Newton1DStatus::kAtUpper;
    return true;
  }
  return false;
}

}  // namespace

Newton1DResult MinimizeConvex1D(const std::function<Point1D(double x)>& evaluate,
                                const Point1D& start,
                                const Newton1DOptions& options) {
  Newton1DResult result{.point = start};
  Bracket bracket(options);
  double previous_slope = INFINITY;
  for (;;) {
    const Point1D& p = result.point;
    if (AtBound(p, options, &result.status)) return result;
    const double step = Step(p);
    const bool flat = std::fabs(p.slope) <= options.slope_tolerance;
    const bool short_step = std::fabs(step) <= options.step_tolerance * std::fabs(p.x);
    // Rounding of the sums ends progress before the step tolerance on very small or flat data.
    const bool stalled = std::fabs(p.slope) > 0.5 * std::fabs(previous_slope);
    if (flat && (short_step || stalled || p.slope == 0.0)) {
      result.status = Newton1DStatus::kConverged;
      return result;
    }
    bracket.Narrow(p);
    if (result.evaluations == options.max_evaluations || bracket.Closed()) return result;
    previous_slope = p.slope;
    result.point = evaluate(bracket.Propose(p.x + step));
    ++result.evaluations;
  }
}

}  // namespace segcal
