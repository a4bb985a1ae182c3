// SPDX-License-Identifier: Apache-2.0
#include "optim/box.h"

#include <algorithm>
#include <cmath>

namespace segcal {

void Box::Clamp(std::vector<double>* x) const noexcept {
  for (size_t i = 0; i < x->size(); ++i) (*x)[i] = std::clamp((*x)[i], lower[i], upper[i]);
}

std::vector<char> Box::Free(const std::vector<double>& x,
                            const std::vector<double>& gradient) const {
  std::vector<char> free(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const bool pressed =
        (x[i] <= lower[i] && gradient[i] > 0.0) || (x[i] >= upper[i] && gradient[i] < 0.0);
    free[i] = lower[i] < upper[i] && !pressed ? 1 : 0;
  }
  return free;
}

double Box::ProjectedNorm(const std::vector<double>& x,
                          const std::vector<double>& gradient) const noexcept {
  double sum = 0.0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double move = std::clamp(x[i] - gradient[i], lower[i], upper[i]) - x[i];
    sum += move * move;
  }
  return std::sqrt(sum);
}

double Box::Gap(const std::vector<double>& x,
                const std::vector<double>& gradient,
                double convexity) const noexcept {
  double gap = 0.0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double d = std::clamp(x[i] - gradient[i] / convexity, lower[i], upper[i]) - x[i];
    gap -= d * (gradient[i] + 0.5 * convexity * d);
  }
  return gap;
}

}  // namespace segcal
