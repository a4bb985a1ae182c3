// SPDX-License-Identifier: Apache-2.0
#include "optim/lesson.h"

namespace segcal {
namespace {

// Curvature below this share of what the metric says teaches nothing but rounding.
constexpr double kLeastCurvature = 1e-10;

}  // namespace

Lesson LessonOf(const Eigen::VectorXd& move,
                const Eigen::VectorXd& change,
                const Eigen::VectorXd& bs) {
  Lesson lesson{.y = change, .sy = move.dot(change), .bs = bs, .sbs = move.dot(bs)};
  lesson.valid = lesson.sbs > 0.0 && lesson.sy > kLeastCurvature * lesson.sbs;
  if (lesson.valid && lesson.sy < kLeastTaught * lesson.sbs) {
    const double share = (1.0 - kLeastTaught) * lesson.sbs / (lesson.sbs - lesson.sy);
    lesson.y = share * lesson.y + (1.0 - share) * lesson.bs;
    lesson.sy = kLeastTaught * lesson.sbs;
  }
  return lesson;
}

}  // namespace segcal
