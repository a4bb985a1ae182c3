// SPDX-License-Identifier: Apache-2.0
#include "optim/secant_update.h"

#include <gtest/gtest.h>

namespace segcal {
namespace {

const Eigen::Vector2d kMove(1.0, 2.0);
const Eigen::Vector2d kKnown(3.0, 4.0);  // curvature 11 along the move

TEST(MakeSecantUpdate, TakesAChangeAsItIs) {
  const SecantUpdate update = MakeSecantUpdate(kMove, Eigen::Vector2d(5.0, 1.0), kKnown);
  EXPECT_TRUE(update.valid);
  EXPECT_EQ(update.sy, 7.0);
  EXPECT_EQ(update.sbs, 11.0);
  EXPECT_EQ(update.y[0], 5.0);
}

// Closed form: a mix of the change and of what was known, with a fifth of its curvature.
TEST(MakeSecantUpdate, MixesInWhatWasKnownWhereTheChangeIsTooLittle) {
  const SecantUpdate update = MakeSecantUpdate(kMove, Eigen::Vector2d(0.1, 0.0), kKnown);
  EXPECT_TRUE(update.valid);
  EXPECT_NEAR(update.sy, kLeastCurvatureKept * 11.0, 1e-12);
  EXPECT_NEAR(kMove.dot(update.y), update.sy, 1e-12);
}

TEST(MakeSecantUpdate, LearnsNothingFromNegativeCurvature) {
  EXPECT_FALSE(MakeSecantUpdate(kMove, Eigen::Vector2d(-1.0, 0.0), kKnown).valid);
  EXPECT_FALSE(MakeSecantUpdate(kMove, Eigen::Vector2d(1.0, 0.0), -kKnown).valid);
}

}  // namespace
}  // namespace segcal
