// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "optim/quadratic_model.h"

namespace segcal {

// A full matrix, row by row, symmetric and positive semi-definite.
std::unique_ptr<QuadraticModel> MakeDenseModel(std::vector<double> hessian);

}  // namespace segcal
