// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "segcal/error.h"

namespace segcal {
namespace {

TEST(Dispatch, PinnedTargetIsTheActiveOne) {
  const std::string before = ActiveTarget();
  for (const std::string& target : SupportedTargets()) {
    PinTarget(target);
    EXPECT_EQ(ActiveTarget(), target);
  }
  PinTarget(before);
}

TEST(Dispatch, ActiveTargetIsOneOfTheSupported) {
  const std::vector<std::string> targets = SupportedTargets();
  ASSERT_FALSE(targets.empty());
  EXPECT_NE(std::find(targets.begin(), targets.end(), ActiveTarget()), targets.end());
}

TEST(Dispatch, PinningDoesNotShortenTheListOfTargets) {
  const std::string before = ActiveTarget();
  const std::vector<std::string> targets = SupportedTargets();
  PinTarget(targets.back());
  EXPECT_EQ(SupportedTargets(), targets);
  PinTarget(before);
}

TEST(Dispatch, UnknownTargetIsAnErrorThatListsTheKnownOnes) {
  const std::string before = ActiveTarget();
  try {
    PinTarget("AVX9");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("\"AVX9\""), std::string::npos);
    EXPECT_NE(std::string(error.what()).find(SupportedTargets().front()), std::string::npos);
  }
  EXPECT_EQ(ActiveTarget(), before);
}

}  // namespace
}  // namespace segcal
