// SPDX-License-Identifier: Apache-2.0
#include "study/recommend.h"

#include <gtest/gtest.h>

#include <cmath>

#include "study/group_scores.h"
#include "study/results_for_test.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::Pipeline;
using testing::ResultOf;

TEST(GroupScores, AreMeansOverGroupsOfTheirCasesAndRepeats) {
  const EvaluateResult first = ResultOf({{1, 3, 10}, {0, 0, 0}}, {"a", "a", "b"});
  const EvaluateResult second = ResultOf({{5, 5, 20}, {0, 0, 0}}, {"a", "a", "b"});
  const GroupScores scores({&first, &second}, "nll");
  EXPECT_EQ(scores.num_groups(), 2);
  EXPECT_DOUBLE_EQ(scores.Mean(0), ((1 + 3 + 5 + 5) / 4.0 + 15.0) / 2.0);
}

TEST(GroupScores, HaveTheStandardErrorOfPairedDifferences) {
  const EvaluateResult result = ResultOf({{1, 2, 4, std::nan("")}, {1, 1, 1, 1}});
  const PairedScore score = GroupScores({&result}, "nll").Difference(0, 1);
  EXPECT_EQ(score.groups, 3);
  EXPECT_DOUBLE_EQ(score.mean, 4.0 / 3.0);
  // Differences 0, 1, 3: variance 7/3, over three.
  EXPECT_DOUBLE_EQ(score.standard_error, std::sqrt(7.0 / 9.0));
  const EvaluateResult single = ResultOf({{1}, {2}});
  EXPECT_TRUE(std::isnan(GroupScores({&single}, "nll").Difference(0, 1).standard_error));
}

TEST(Recommend, TakesTheSimplestWithinOneStandardError) {
  // Against the last one, which is the best: worse by 1 +- 0.05, by 0.1 +- 0.2.
  const EvaluateResult result =
      ResultOf({{1.1, 1.9, 3.1, 3.9}, {0.6, 0.8, 2.6, 2.4}, {0, 1, 2, 3}});
  const std::vector<StudyPipeline> pipelines = {
      Pipeline("none(z)", 0), Pipeline("ts(z)", 1), Pipeline("cms_op(z)", 100)};
  const Recommendation found = Recommend(pipelines, {&result}, 1, {});
  EXPECT_EQ(found.pipeline, "ts(z)");
  EXPECT_EQ(found.groups, 4);
  EXPECT_FALSE(found.candidates[0].within);
  EXPECT_TRUE(found.candidates[1].within);
  EXPECT_TRUE(found.candidates[2].within);
  EXPECT_NEAR(found.candidates[1].difference, 0.1, 1e-12);
  EXPECT_EQ(found.reasons.size(), 3u);
}

TEST(Recommend, DoesNotPayForWhatTablesDoNotShow) {
  // Worse by exactly so much in every group: the standard error is 0.
  const std::vector<StudyPipeline> pipelines = {Pipeline("none(z)", 0), Pipeline("cms_op(z)", 100)};
  const EvaluateResult invisible = ResultOf({{1.00004, 2.00004}, {1, 2}});
  EXPECT_EQ(Recommend(pipelines, {&invisible}, 1, {}).pipeline, "none(z)");
  const EvaluateResult visible = ResultOf({{1.00006, 2.00006}, {1, 2}});
  EXPECT_EQ(Recommend(pipelines, {&visible}, 1, {}).pipeline, "cms_op(z)");
}

TEST(Recommend, DoesNotPayForAHundredthOfTheGain) {
  // The best gains 0.1, another one 0.0991 or 0.0989 of it, in every group: no standard error.
  const std::vector<StudyPipeline> pipelines = {
      Pipeline("none(z)", 0), Pipeline("ts(z)", 1), Pipeline("cms_op(z)", 100)};
  const EvaluateResult little = ResultOf({{1.1, 2.1}, {1.0009, 2.0009}, {1, 2}});
  const Recommendation found = Recommend(pipelines, {&little}, 1, {});
  EXPECT_EQ(found.pipeline, "ts(z)");
  EXPECT_NE(found.reasons[1].find("less than 1 % of what the best one gains"), std::string::npos)
      << found.reasons[1];
  const EvaluateResult more = ResultOf({{1.1, 2.1}, {1.0011, 2.0011}, {1, 2}});
  EXPECT_EQ(Recommend(pipelines, {&more}, 1, {}).pipeline, "cms_op(z)");
}

TEST(Recommend, TakesTheBetterOfEquallySimpleOnes) {
  const EvaluateResult result = ResultOf({{1.0, 1.2, 1.1}, {1.2, 1.1, 1.1}, {0.9, 1.3, 1.0}});
  const std::vector<StudyPipeline> pipelines = {
      Pipeline("ts(z)", 1), Pipeline("ts(p)", 1), Pipeline("ets(z)", 3)};
  EXPECT_EQ(Recommend(pipelines, {&result}, 2, {}).pipeline, "ts(z)");
}

TEST(Recommend, ObeysConstraints) {
  const EvaluateResult result =
      ResultOf({{5, 5, 5}, {1, 1, 1}, {0, 0, 0}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}});
  const std::vector<StudyPipeline> pipelines = {
      Pipeline("none(p)", 0),
      Pipeline("ms(z)", 20, Preserves::kNone, false),
      Pipeline("cdc(p)", 90, Preserves::kNone),
      Pipeline("lts_raw(z)", 70, Preserves::kOrder, false),
      Pipeline("cms_ap(p)", 30, Preserves::kArgmax),
      Pipeline("ts(z0)", 1)};
  const auto choose = [&](const RecommendOptions& options) {
    return Recommend(pipelines, {&result}, 3, options).pipeline;
  };
  EXPECT_EQ(choose({}), "cms_ap(p)");
  EXPECT_EQ(choose({.preserves = Preserves::kOrder}), "none(p)");
  EXPECT_EQ(choose({.translation_invariant = false}), "lts_raw(z)");
  EXPECT_EQ(choose({.preserves = Preserves::kNone}), "cdc(p)");
  EXPECT_EQ(choose({.preserves = Preserves::kNone, .translation_invariant = false}), "cdc(p)");
  const Recommendation found = Recommend(pipelines, {&result}, 3, {});
  EXPECT_EQ(found.candidates[1].excluded, "depends on offsets of the logits");
  EXPECT_EQ(found.candidates[2].excluded, "may change the segmentation");
  EXPECT_EQ(found.candidates[5].excluded, "uses one member of the ensemble alone");
}

TEST(Recommend, NamesTheOnlyMemberAsTheMean) {
  const EvaluateResult result = ResultOf({{1, 2}, {1, 2}});
  EXPECT_EQ(Recommend({Pipeline("none(z0)", 0), Pipeline("none(z)", 0)}, {&result}, 1, {}).pipeline,
            "none(z)");
}

TEST(Recommend, SaysWhereNothingSatisfies) {
  const EvaluateResult result = ResultOf({{1, 2}});
  const Recommendation found =
      Recommend({Pipeline("ms(z)", 9, Preserves::kNone)}, {&result}, 1, {});
  EXPECT_EQ(found.pipeline, "");
  EXPECT_EQ(found.reasons.size(), 1u);
  ExpectError(ErrorCode::kInvalidArgument, {"score dsc", "nll, brier"}, [&] {
    Recommend({Pipeline("ts(z)", 1)}, {&result}, 1, {.score = "dsc"});
  });
}

}  // namespace
}  // namespace segcal
