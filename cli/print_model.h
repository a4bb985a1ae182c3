// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "segcal/model.h"

namespace segcal::cli {

// What a model was fitted on, what that gained, and what it guarantees: lines for people.
void PrintModel(const Model& model);

// The same of several models, a row each.
void PrintModels(const std::vector<Model>& models);

}  // namespace segcal::cli
