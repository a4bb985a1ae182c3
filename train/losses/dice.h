// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/losses/batch.h"

namespace segcal::train {

// Added to numerator and denominator of every Dice score unless told otherwise.
inline constexpr double kDiceSmooth = 1e-5;

// Mean over samples and classes of (2 sum p y + s) / (sum p + sum y + s) (LO4).
Tensor SoftDice(const LossBatch& batch, double smooth, bool include_background);

// A tensor (N, C, spatial...) without class 0, unless that is included. An Error where no class is
// left.
Tensor WithoutBackground(const Tensor& values, bool include_background);

}  // namespace segcal::train
