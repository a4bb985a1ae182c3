// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

namespace segcal {

// A move and the change of the gradient along it, as the update y y^T / sy - Bs (Bs)^T / sBs of a
// quadratic model B makes use of them.
struct SecantUpdate {
  Eigen::VectorXd y;
  double sy = 0.0;
  Eigen::VectorXd bs;
  double sbs = 0.0;
  bool valid = false;  // no update where the curvature along the move is not positive
};

// `bs` is the product of B and the move. An update keeps at least kLeastCurvatureKept of the
// curvature known before: near a minimum differences of gradients are rounding, and too little
// curvature makes steps without end. y is as near to `change` as that allows.
inline constexpr double kLeastCurvatureKept = 0.2;
SecantUpdate MakeSecantUpdate(const Eigen::VectorXd& move,
                              const Eigen::VectorXd& change,
                              const Eigen::VectorXd& bs);

}  // namespace segcal
