// SPDX-License-Identifier: Apache-2.0
#include "pipeline/shared_data.h"

#include <gtest/gtest.h>

#include <set>

#include "core/parallel.h"
#include "pipeline/survey.h"
#include "tests/support/errors.h"
#include "tests/support/scene.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;

TEST(SharedData, CountsFoldsInOnePassAsOneByOne) {
  Scene scene = RandomScene({.num_cases = 8, .num_members = 2, .shape = {17, 19}});
  scene.dataset.cases[2].group = scene.dataset.cases[5].group = "patient";
  const auto stream = scene.Stream(2);
  SharedData shared(*stream, 3);
  for (const char* name : {"z", "p"}) {
    const Pooling pooling = ParsePooling(name);
    const auto& folds = shared.Folds(pooling);
    const SharedData::OfPooling& data = shared.Of(pooling);
    ASSERT_EQ(folds.size(), 5u);
    ASSERT_EQ(data.of_folds.size(), 5u);
    std::multiset<std::string> held;
    for (size_t k = 0; k < folds.size(); ++k) {
      const Survey alone = SurveyData(*folds[k].training, pooling, data.survey.sample_beta);
      const Survey& together = data.of_folds[k];
      EXPECT_EQ(together.voxels, alone.voxels);
      EXPECT_EQ(together.labelled, alone.labelled);
      EXPECT_EQ(together.confusion, alone.confusion);
      EXPECT_EQ(together.label_counts, alone.label_counts);
      for (const Case& c : folds[k].validation->dataset().cases) held.insert(c.id);
    }
    EXPECT_EQ(held.size(), 8u);  // every case once
    EXPECT_EQ(std::set<std::string>(held.begin(), held.end()).size(), 8u);
  }
}

TEST(SharedData, KeepsGroupsOnOneSide) {
  Scene scene = RandomScene({.num_cases = 6, .shape = {5, 5}});
  for (size_t c = 0; c < 6; ++c) scene.dataset.cases[c].group = c < 3 ? "a" : "b";
  const auto stream = scene.Stream(1);
  SharedData shared(*stream, 0);
  const auto& folds = shared.Folds(ParsePooling("z"));
  ASSERT_EQ(folds.size(), 2u);
  for (const auto& fold : folds) EXPECT_EQ(fold.training->num_cases(), 3);
  for (Case& c : scene.dataset.cases) c.group = "one";
  const auto single = scene.Stream(1);
  SharedData alone(*single, 0);
  testing::ExpectError(ErrorCode::kInvalidArgument, {"6 cases in too few groups"}, [&] {
    alone.Folds(ParsePooling("z"));
  });
}

TEST(SharedData, IsMadeOnceByFitsThatGoOnAtTheSameTime) {
  const Scene scene = RandomScene({.num_cases = 6, .num_members = 2, .shape = {15, 9}});
  const auto stream = scene.Stream(2);
  SharedData alone(*stream, 1);
  SharedData shared(*stream, 1);
  const Pooling poolings[] = {ParsePooling("z"), ParsePooling("p")};
  std::vector<const SharedData::OfPooling*> seen(12);
  ParallelFor(std::ssize(seen), 4, [&](int64_t i, int) {
    const Pooling& pooling = poolings[i % 2];
    shared.FactsOf(*stream, pooling);
    shared.Folds(pooling);
    seen[static_cast<size_t>(i)] = &shared.Of(pooling);
  });
  for (size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i], seen[i % 2]);
    const Pooling& pooling = poolings[i % 2];
    EXPECT_EQ(seen[i]->pooling, pooling);
    EXPECT_EQ(seen[i]->survey.hash, alone.Of(pooling).survey.hash);
    EXPECT_EQ(seen[i]->of_folds.size(), alone.Folds(pooling).size());
    EXPECT_EQ(seen[i]->of_folds[3].confusion, alone.Of(pooling).of_folds[3].confusion);
    EXPECT_EQ(shared.FactsOf(*stream, pooling)[5].hash, seen[i]->survey.cases[5].hash);
  }
}

TEST(SharedData, ReadsAPoolingOnce) {
  const Scene scene = RandomScene({.num_cases = 3, .shape = {9, 9}});
  const auto stream = scene.Stream(1);
  SharedData shared(*stream, 0);
  const auto* first = &shared.Of(ParsePooling("z"));
  shared.Of(ParsePooling("p"));
  EXPECT_EQ(&shared.Of(ParsePooling("z")), first);
}

}  // namespace
}  // namespace segcal
