// SPDX-License-Identifier: Apache-2.0
#include "optim/secant_update.h"

namespace segcal {
namespace {

// Curvature below this share of what the model says is rounding.
constexpr double kLeastCurvature = 1e-10;

}  // namespace

SecantUpdate MakeSecantUpdate(const Eigen::VectorXd& move,
                              const Eigen::VectorXd& change,
                              const Eigen::VectorXd& bs) {
  SecantUpdate update{.y = change, .sy = move.dot(change), .bs = bs, .sbs = move.dot(bs)};
  update.valid = update.sbs > 0.0 && update.sy > kLeastCurvature * update.sbs;
  if (update.valid && update.sy < kLeastCurvatureKept * update.sbs) {
    const double share = (1.0 - kLeastCurvatureKept) * update.sbs / (update.sbs - update.sy);
    update.y = share * update.y + (1.0 - share) * update.bs;
    update.sy = kLeastCurvatureKept * update.sbs;
  }
  return update;
}

}  // namespace segcal
