// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "methods/shared/calibrator_info.h"
#include "segcal/model.h"

namespace segcal {

// Softmax with a defect, declared translation invariant and order preserving unless it is "honest":
//   lie=decision    gives the winner's probability to the next class
//   lie=order       exchanges the probabilities of the two classes after the winner
//   lie=offset      mixes with uniform where the largest logit is above 0
//   lie=rows        emits rows that sum to 1.001
//   lie=nan         emits NaN where the winner has less than one half
//   lie=parameters  makes a claim about its parameters that does not hold
//   lie=image       needs an image, which is no lie
//   lie=honest      order and offset together, and declares nothing
//   lie=none        softmax
extern const CalibratorInfo kLying;

namespace testing {

Model LyingModel(const std::string& lie,
                 const std::vector<std::string>& classes,
                 InputKind input = InputKind::kLogits,
                 const std::string& pooling = "z");

}  // namespace testing
}  // namespace segcal
