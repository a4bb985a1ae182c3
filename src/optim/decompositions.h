// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace segcal {

// Eigen's decompositions of matrices of any size, compiled here and nowhere else: they take a
// compiler longer than the rest of this folder.

// a = vectors diag(values) vectors', of a symmetric matrix; values ascend.
struct SymmetricParts {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};
SymmetricParts DecomposeSymmetric(const Eigen::MatrixXd& a);

// A solution of a x = b by elimination with full pivoting; a may be singular.
Eigen::VectorXd SolveSquare(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

// a = L L' of a symmetric positive definite matrix, of which the lower half is read.
class CholeskyFactors {
 public:
  // False if `a` is not positive definite.
  bool Factor(const Eigen::MatrixXd& a);
  Eigen::VectorXd Solve(const Eigen::VectorXd& b) const;

 private:
  Eigen::LLT<Eigen::MatrixXd> llt_;
};

}  // namespace segcal
