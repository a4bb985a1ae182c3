// SPDX-License-Identifier: Apache-2.0
// Promises that every metric keeps when it goes through the pipeline, including ones added
// tomorrow.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "metrics/metric.h"
#include "segcal/evaluate.h"
#include "tests/support/models.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;
using testing::WithoutTies;

class EveryMetricFamily : public ::testing::TestWithParam<const MetricInfo*> {
 protected:
  // The family's numbers out of all.
  std::vector<MetricValue> Own(const std::vector<MetricValue>& all) const {
    std::vector<MetricValue> own;
    for (const MetricNumber& number : GetParam()->numbers) {
      for (const MetricValue& result : all) {
        if (result.name == number.name) own.push_back(result);
      }
    }
    EXPECT_EQ(own.size(), GetParam()->numbers.size());
    return own;
  }
};

Scene SomeScene(int64_t num_classes) {
  Scene scene = WithoutTies(
      RandomScene({.seed = 4, .num_cases = 3, .num_classes = num_classes, .shape = {97, 89}}));
  scene.dataset.background = 0;
  return scene;
}

PipelineMetrics MetricsOf(const Scene& scene, int threads = 2) {
  const testing::TempFolder folder;
  const Dataset dataset = testing::WriteScene(scene, folder.path());
  EvaluateOptions options;
  options.run.threads = threads;
  options.families = {"all"};
  return Evaluate(dataset, {testing::TemperatureModel(dataset, 0.6)}, options).pipelines.at(0);
}

std::vector<uint64_t> BitsOf(const std::vector<MetricValue>& results) {
  std::vector<uint64_t> bits;
  for (const MetricValue& result : results) {
    bits.push_back(std::bit_cast<uint64_t>(result.value));
    for (const double value : result.per_class) bits.push_back(std::bit_cast<uint64_t>(value));
  }
  return bits;
}

TEST_P(EveryMetricFamily, StaysInTheRangeItStates) {
  for (const int64_t num_classes : {1, 2, 6}) {
    const PipelineMetrics metrics = MetricsOf(SomeScene(num_classes));
    std::vector<std::vector<MetricValue>> all = {metrics.mean, metrics.pooled};
    for (const CaseMetrics& c : metrics.cases) all.push_back(c.metrics);
    for (const auto& results : all) {
      const std::vector<MetricValue> own = Own(results);
      for (size_t i = 0; i < own.size(); ++i) {
        if (std::isnan(own[i].value)) continue;
        EXPECT_GE(own[i].value, GetParam()->numbers[i].lowest) << own[i].name;
        EXPECT_LE(own[i].value, GetParam()->numbers[i].highest) << own[i].name;
      }
    }
  }
}

TEST_P(EveryMetricFamily, DoesNotDependOnThreads) {
  const Scene scene = SomeScene(4);
  const PipelineMetrics one = MetricsOf(scene, 1);
  const PipelineMetrics three = MetricsOf(scene, 3);
  EXPECT_EQ(BitsOf(Own(three.mean)), BitsOf(Own(one.mean)));
  EXPECT_EQ(BitsOf(Own(three.pooled)), BitsOf(Own(one.pooled)));
  EXPECT_EQ(BitsOf(Own(three.cases[1].metrics)), BitsOf(Own(one.cases[1].metrics)));
}

// Pooling is exact: what is summed first does not show.
TEST_P(EveryMetricFamily, PooledDoesNotDependOnTheOrderOfCases) {
  const Scene scene = SomeScene(4);
  Scene reversed = scene;
  std::reverse(reversed.logits.begin(), reversed.logits.end());
  std::reverse(reversed.labels.begin(), reversed.labels.end());
  EXPECT_EQ(BitsOf(Own(MetricsOf(reversed).pooled)), BitsOf(Own(MetricsOf(scene).pooled)));
}

TEST_P(EveryMetricFamily, DoesNotSeeVoxelsWithoutLabels) {
  const Scene scene = SomeScene(4);
  Scene other = scene;
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (size_t v = 0; v < n; ++v) {
    if (scene.labels[0][v] != 255) continue;
    for (size_t c = 0; c < 4; ++c) other.logits[0][0][c * n + v] = static_cast<float>((v + c) % 7);
  }
  EXPECT_EQ(BitsOf(Own(MetricsOf(other).pooled)), BitsOf(Own(MetricsOf(scene).pooled)));
}

// Class c becomes class C - 1 - c, the background with it.
Scene Mirrored(const Scene& scene) {
  Scene mirrored = scene;
  const auto n = static_cast<size_t>(scene.num_voxels());
  const auto last = static_cast<size_t>(scene.dataset.num_classes() - 1);
  for (size_t i = 0; i < scene.logits.size(); ++i) {
    for (size_t c = 0; c <= last; ++c) {
      for (size_t v = 0; v < n; ++v)
        mirrored.logits[i][0][(last - c) * n + v] = scene.logits[i][0][c * n + v];
    }
    for (int32_t& label : mirrored.labels[i])
      label = label == 255 ? 255 : static_cast<int32_t>(last) - label;
  }
  mirrored.dataset.background = static_cast<int64_t>(last);
  return mirrored;
}

// The same within rounding, or both undefined.
void ExpectSame(double found, double expected, const std::string& name) {
  if (std::isnan(found) && std::isnan(expected)) return;
  EXPECT_NEAR(found, expected, 1e-6) << name;
}

TEST_P(EveryMetricFamily, DoesNotDependOnTheNamesOfTheClasses) {
  const Scene scene = SomeScene(5);
  const std::vector<MetricValue> expected = Own(MetricsOf(scene).mean);
  const std::vector<MetricValue> found = Own(MetricsOf(Mirrored(scene)).mean);
  for (size_t i = 0; i < found.size(); ++i) {
    ExpectSame(found[i].value, expected[i].value, found[i].name);
    const size_t listed = found[i].per_class.size();
    ASSERT_EQ(listed, expected[i].per_class.size());
    for (size_t c = 0; c < listed; ++c)
      ExpectSame(found[i].per_class[listed - 1 - c], expected[i].per_class[c], found[i].name);
  }
}

INSTANTIATE_TEST_SUITE_P(List,
                         EveryMetricFamily,
                         ::testing::ValuesIn(Metrics()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace segcal
