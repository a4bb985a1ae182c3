// SPDX-License-Identifier: Apache-2.0
#include "optim/adam.h"

#include <gtest/gtest.h>

#include <cmath>

namespace segcal {
namespace {

// Closed form: after one step both corrected moments are g and g^2, so the step is the rate.
TEST(AdamStep, FirstStepHasTheLengthOfTheRate) {
  AdamMoments moments;
  std::vector<double> x = {1.0, 2.0, 3.0};
  AdamStep({.epsilon = 0.0}, 0.25, std::vector<double>{1e-9, -7.0, 1e12}, &moments, x);
  EXPECT_NEAR(x[0], 0.75, 1e-12);
  EXPECT_NEAR(x[1], 2.25, 1e-12);
  EXPECT_NEAR(x[2], 2.75, 1e-12);
  EXPECT_EQ(moments.steps, 1);
}

// Closed form: a constant gradient gives constant steps.
TEST(AdamStep, ConstantGradientGivesEqualSteps) {
  AdamMoments moments;
  std::vector<double> x = {0.0};
  for (int t = 0; t < 50; ++t)
    AdamStep({.epsilon = 0.0}, 0.1, std::vector<double>{3.0}, &moments, x);
  EXPECT_NEAR(x[0], -5.0, 1e-11);
}

// Without a gradient, decoupled decay shrinks by (1 - rate decay) a step; the other kind makes a
// gradient of the parameter itself, whose first step has the length of the rate.
TEST(AdamStep, DecaysTheParameterOrAddsToTheGradient) {
  AdamMoments decoupled;
  AdamMoments coupled;
  std::vector<double> x = {5.0};
  std::vector<double> y = {5.0};
  const std::vector<double> none = {0.0};
  for (int t = 0; t < 10; ++t)
    AdamStep({.weight_decay = 0.5, .decoupled = true}, 0.1, none, &decoupled, x);
  EXPECT_NEAR(x[0], 5.0 * std::pow(0.95, 10), 1e-12);
  AdamStep({.weight_decay = 0.5, .decoupled = false}, 0.1, none, &coupled, y);
  EXPECT_NEAR(y[0], 4.9, 1e-8);
}

}  // namespace
}  // namespace segcal
