// SPDX-License-Identifier: Apache-2.0
#include "segcal/fit_report.h"

#include <gtest/gtest.h>

#include "segcal/properties.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

// The names are those of docs/formats.md: files of earlier versions hold them.
TEST(FitStatus, HasANameThatReadsBack) {
  const std::pair<FitStatus, const char*> names[] = {{FitStatus::kConverged, "converged"},
                                                     {FitStatus::kAtBound, "at_bound"},
                                                     {FitStatus::kUnbounded, "unbounded"},
                                                     {FitStatus::kNotConverged, "not_converged"},
                                                     {FitStatus::kNothingToFit, "nothing_to_fit"},
                                                     {FitStatus::kTrained, "trained"}};
  for (const auto& [status, name] : names) {
    EXPECT_STREQ(Name(status), name);
    EXPECT_EQ(ParseFitStatus(name), status);
  }
}

TEST(TrainStop, HasANameThatReadsBack) {
  const std::pair<TrainStop, const char*> names[] = {{TrainStop::kMaxEpochs, "max_epochs"},
                                                     {TrainStop::kPatience, "patience"},
                                                     {TrainStop::kHook, "hook"},
                                                     {TrainStop::kNotFinite, "not_finite"}};
  for (const auto& [stop, name] : names) {
    EXPECT_STREQ(Name(stop), name);
    EXPECT_EQ(ParseTrainStop(name), stop);
  }
}

TEST(Preserves, HasANameThatReadsBack) {
  const std::pair<Preserves, const char*> names[] = {
      {Preserves::kNone, "none"}, {Preserves::kArgmax, "argmax"}, {Preserves::kOrder, "order"}};
  for (const auto& [preserves, name] : names) {
    EXPECT_STREQ(Name(preserves), name);
    EXPECT_EQ(ParsePreserves(name), preserves);
  }
}

TEST(FitStatus, UnknownNameIsRefusedWithTheKnownOnes) {
  testing::ExpectError(ErrorCode::kInvalidArgument,
                       {"unknown status \"Converged\", one of converged, at_bound, unbounded, "
                        "not_converged, nothing_to_fit, trained is required"},
                       [] { ParseFitStatus("Converged"); });
}

}  // namespace
}  // namespace segcal
