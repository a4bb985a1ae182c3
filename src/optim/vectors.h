// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <vector>

namespace segcal {

// Vectors of ours and of Eigen.
inline Eigen::Map<const Eigen::VectorXd> View(const std::vector<double>& v) {
  return {v.data(), static_cast<Eigen::Index>(v.size())};
}
inline std::vector<double> Copy(const Eigen::VectorXd& v) {
  return {v.data(), v.data() + v.size()};
}

}  // namespace segcal
