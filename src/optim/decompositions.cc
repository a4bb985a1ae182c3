// SPDX-License-Identifier: Apache-2.0
#include "optim/decompositions.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

namespace segcal {

SymmetricParts DecomposeSymmetric(const Eigen::MatrixXd& a) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(a);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::VectorXd SolveSquare(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  return a.fullPivLu().solve(b);
}

bool CholeskyFactors::Factor(const Eigen::MatrixXd& a) {
  llt_.compute(a);
  return llt_.info() == Eigen::Success;
}

Eigen::VectorXd CholeskyFactors::Solve(const Eigen::VectorXd& b) const { return llt_.solve(b); }

}  // namespace segcal
