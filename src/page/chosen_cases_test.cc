// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "page/explorer.h"

namespace segcal {
namespace {

// A study of one pipeline with these losses of cases c0, c1, ... and flips.
Study StudyOfLosses(const std::vector<double>& losses, const std::vector<double>& flips) {
  PipelineMetrics pipeline;
  pipeline.pipeline = "ts(z)";
  for (size_t c = 0; c < losses.size(); ++c) {
    CaseMetrics metrics;
    metrics.id = "c" + std::to_string(c);
    metrics.metrics = {{.name = "nll", .value = losses[c], .per_class = {}},
                       {.name = "flip_rate", .value = flips[c], .per_class = {}}};
    pipeline.cases.push_back(metrics);
  }
  Study study;
  study.pipelines = {{.pipeline = "ts(z)"}};
  study.repeats.resize(1);
  study.repeats[0].result.pipelines = {pipeline};
  study.statistics.pipelines.resize(1);
  study.recommendation.pipeline = "ts(z)";
  return study;
}

TEST(ChooseCases, TakesTheTypicalTheBestTheWorstAndTheMostFlipped) {
  const Study study = StudyOfLosses({0.5, 0.1, 0.9, 0.3, 0.7}, {0.0, 0.0, 0.0, 4.0, 2.0});
  const std::vector<ChosenCase> cases = ChooseCases(StudyView(study), 4);
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_EQ(cases[0].id, "c0");
  EXPECT_EQ(cases[0].why, "typical");
  EXPECT_EQ(cases[1].id, "c1");
  EXPECT_EQ(cases[1].why, "best");
  EXPECT_EQ(cases[2].id, "c2");
  EXPECT_EQ(cases[2].why, "worst");
  EXPECT_EQ(cases[3].id, "c3");
  EXPECT_EQ(cases[3].why, "most flipped");
}

TEST(ChooseCases, NamesACaseOnceWithAllItsReasonsAndFillsUp) {
  const Study study = StudyOfLosses({0.5, 0.1, 0.9}, {0.0, 0.0, 1.0});
  const std::vector<ChosenCase> cases = ChooseCases(StudyView(study), 20);
  ASSERT_EQ(cases.size(), 3u);
  EXPECT_EQ(cases[2].why, "worst, most flipped");
  EXPECT_EQ(ChooseCases(StudyView(study), 0).size(), 0u);
  EXPECT_EQ(ChooseCases(StudyView(study), 1).size(), 1u);
}

}  // namespace
}  // namespace segcal
