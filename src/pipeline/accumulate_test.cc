// SPDX-License-Identifier: Apache-2.0
#include "segcal/accumulate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/errors.h"
#include "tests/support/models.h"
#include "tests/support/scene.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::RandomScene;
using testing::Scene;

EvaluateOptions EveryMetric() {
  EvaluateOptions options;
  options.families = {"all"};
  return options;
}

Scene SceneInMemory() {
  Scene scene = RandomScene({.num_cases = 4, .num_classes = 3, .shape = {40, 37}, .scale = 2.0});
  scene.dataset = scene.InMemory();
  return scene;
}

Dataset SomeCases(const Dataset& dataset, size_t first, size_t last) {
  Dataset part = dataset;
  part.cases.assign(dataset.cases.begin() + static_cast<std::ptrdiff_t>(first),
                    dataset.cases.begin() + static_cast<std::ptrdiff_t>(last));
  return part;
}

// Bit for bit, undefined values included.
void ExpectSameValues(const std::vector<MetricValue>& a, const std::vector<MetricValue>& b) {
  ASSERT_EQ(a.size(), b.size());
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_PRED2(same, a[i].value, b[i].value) << a[i].name;
    ASSERT_EQ(a[i].per_class.size(), b[i].per_class.size());
    for (size_t c = 0; c < a[i].per_class.size(); ++c)
      EXPECT_PRED2(same, a[i].per_class[c], b[i].per_class[c]) << a[i].name << " of class " << c;
  }
}

// The oracle is the evaluation of all cases at once.
TEST(MetricSums, OfCasesOneByOneAreThoseOfAllAtOnce) {
  const Scene scene = SceneInMemory();
  const Model model = testing::TemperatureModel(scene.dataset, 0.6);
  MetricSums sums(model, scene.dataset, EveryMetric());
  for (size_t c = 0; c < scene.dataset.cases.size(); ++c)
    sums.Add(SomeCases(scene.dataset, c, c + 1));
  const EvaluateResult whole = Evaluate(scene.dataset, {model}, EveryMetric());
  ExpectSameValues(sums.Values(), whole.pipelines[0].pooled);
  EXPECT_EQ(sums.cases(), 4);
  EXPECT_EQ(sums.voxels(), whole.voxels);
  EXPECT_EQ(sums.labelled(), whole.labelled);
  EXPECT_EQ(sums.Diagrams().size(), whole.pipelines[0].diagrams.size());
}

TEST(MetricSums, MergeInAnyOrderAndThroughBytes) {
  const Scene scene = SceneInMemory();
  const Model model = Baseline(scene.dataset, "none(z)");
  MetricSums whole(model, scene.dataset, EveryMetric());
  whole.Add(scene.dataset);
  MetricSums first(model, scene.dataset, EveryMetric());
  MetricSums second = first;
  first.Add(SomeCases(scene.dataset, 2, 4));
  second.Add(SomeCases(scene.dataset, 0, 2));
  MetricSums merged = second;
  merged.Merge(first);
  EXPECT_EQ(merged.Pack(), whole.Pack());
  first.MergePacked(second.Pack());
  EXPECT_EQ(first.Pack(), whole.Pack());
  ExpectSameValues(first.Values(), whole.Values());
}

TEST(MetricSums, LookingAtValuesDoesNotChangeThem) {
  const Scene scene = SceneInMemory();
  MetricSums sums(Baseline(scene.dataset, "none(z)"), scene.dataset, EveryMetric());
  const std::string nothing = sums.Pack();
  sums.Add(SomeCases(scene.dataset, 0, 1));
  const std::string one = sums.Pack();
  ExpectSameValues(sums.Values(), sums.Values());
  EXPECT_EQ(sums.Pack(), one);
  sums.Reset();
  EXPECT_EQ(sums.Pack(), nothing);
  EXPECT_TRUE(std::isnan(FindValue(sums.Values(), "nll")));
}

TEST(MetricSums, RefuseWhatDoesNotAddUp) {
  const Scene scene = SceneInMemory();
  const Model none = Baseline(scene.dataset, "none(z)");
  MetricSums sums(none, scene.dataset);
  ExpectError(ErrorCode::kInvalidArgument, {"do not add up"}, [&] {
    sums.Merge(MetricSums(none, scene.dataset, EveryMetric()));
  });
  ExpectError(ErrorCode::kInvalidArgument, {"ts(z)", "do not add up"}, [&] {
    sums.Merge(MetricSums(testing::TemperatureModel(scene.dataset, 0.5), scene.dataset));
  });
  Dataset other = scene.dataset;
  other.classes.push_back("further");
  ExpectError(ErrorCode::kInvalidArgument, {"4 classes", "made for 3"}, [&] { sums.Add(other); });
  EXPECT_THROW(sums.MergePacked("not sums"), Error);
  EXPECT_EQ(sums.cases(), 0);
}

TEST(MetricSums, AreAsBeforeWhereACaseCannotBeRead) {
  const Scene scene = SceneInMemory();
  MetricSums sums(Baseline(scene.dataset, "none(z)"), scene.dataset);
  sums.Add(SomeCases(scene.dataset, 0, 1));
  const std::string before = sums.Pack();
  Dataset broken = scene.dataset;
  broken.cases.back().labels = ArraySource("missing.npy");
  EXPECT_THROW(sums.Add(broken), Error);
  EXPECT_EQ(sums.Pack(), before);
}

}  // namespace
}  // namespace segcal
