// SPDX-License-Identifier: Apache-2.0
#include "optim/lesson.h"

#include <gtest/gtest.h>

namespace segcal {
namespace {

const Eigen::Vector2d kMove(1.0, 2.0);
const Eigen::Vector2d kKnown(3.0, 4.0);  // curvature 11 along the move

TEST(LessonOf, TakesAChangeAsItIs) {
  const Lesson lesson = LessonOf(kMove, Eigen::Vector2d(5.0, 1.0), kKnown);
  EXPECT_TRUE(lesson.valid);
  EXPECT_EQ(lesson.sy, 7.0);
  EXPECT_EQ(lesson.sbs, 11.0);
  EXPECT_EQ(lesson.y[0], 5.0);
}

// Closed form: a mix of the change and of what was known, with a fifth of its curvature.
TEST(LessonOf, MixesInWhatWasKnownWhereTheChangeIsTooLittle) {
  const Lesson lesson = LessonOf(kMove, Eigen::Vector2d(0.1, 0.0), kKnown);
  EXPECT_TRUE(lesson.valid);
  EXPECT_NEAR(lesson.sy, kLeastTaught * 11.0, 1e-12);
  EXPECT_NEAR(kMove.dot(lesson.y), lesson.sy, 1e-12);
}

TEST(LessonOf, LearnsNothingFromNegativeCurvature) {
  EXPECT_FALSE(LessonOf(kMove, Eigen::Vector2d(-1.0, 0.0), kKnown).valid);
  EXPECT_FALSE(LessonOf(kMove, Eigen::Vector2d(1.0, 0.0), -kKnown).valid);
}

}  // namespace
}  // namespace segcal
