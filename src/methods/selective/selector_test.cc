// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/json.h"
#include "core/rng.h"
#include "kernels/tiles_for_test.h"
#include "methods/selective/selector_problem.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

constexpr int64_t kSelectorClasses = 3;
constexpr double kWeight = 2.0;

// Features of two tiles; voxels whose first feature is large are mispredictions, with some noise.
SelectorSample MakeSample(int64_t num_tiles = 2) {
  SelectorSample sample(kSelectorClasses);
  Rng rng(/*seed=*/1, /*stream=*/0);
  std::vector<float> features(kSelectorClasses * kTileVoxels);
  for (int64_t v = 0; v < num_tiles * kTileVoxels; ++v) {
    for (size_t c = 0; c < kSelectorClasses; ++c) {
      features[c * kTileVoxels] = static_cast<float>(-3.0 + 1.5 * rng.Normal());
    }
    const double first = static_cast<double>(features[0]);
    sample.Add(features.data(), first + 0.3 * rng.Normal() > -2.0);
  }
  return sample;
}

std::vector<double> SomeParameters() {
  const SelectorShape shape(kSelectorClasses);
  std::vector<double> parameters = SelectorStart(shape, /*seed=*/4);
  Rng rng(/*seed=*/9, /*stream=*/0);
  for (double& x : parameters) x += 0.3 * rng.Normal();
  return parameters;
}

std::vector<int64_t> AllTiles(const SelectorSample& sample) {
  std::vector<int64_t> tiles(static_cast<size_t>(sample.num_tiles()));
  std::iota(tiles.begin(), tiles.end(), 0);
  return tiles;
}

// The loss (SS2-SS6) of the whole sample as one minibatch, in double, as the page reads.
double PlainLoss(const SelectorSample& sample, const std::vector<double>& parameters) {
  const SelectorShape shape(sample.num_classes());
  const auto n = static_cast<size_t>(sample.num_voxels());
  std::vector<std::vector<double>> x(n);
  for (size_t v = 0; v < n; ++v) {
    const float* features = sample.features(static_cast<int64_t>(v) / kTileVoxels);
    for (int64_t c = 0; c < kSelectorClasses; ++c) {
      x[v].push_back(features[c * kTileVoxels + static_cast<int64_t>(v) % kTileVoxels]);
    }
  }
  for (int layer = 0; layer <= kHiddenLayers; ++layer) {
    const double* w = parameters.data() + shape.weights(layer);
    const auto inputs = static_cast<size_t>(shape.inputs(layer));
    const auto outputs = static_cast<size_t>(shape.outputs(layer));
    std::vector<std::vector<double>> u(n, std::vector<double>(outputs, 0.0));
    for (size_t v = 0; v < n; ++v) {
      for (size_t o = 0; o < outputs; ++o) {
        for (size_t i = 0; i < inputs; ++i) u[v][o] += w[o * inputs + i] * x[v][i];
      }
    }
    for (size_t o = 0; o < outputs && layer < kHiddenLayers; ++o) {
      double mean = 0.0;
      double variance = 0.0;
      for (size_t v = 0; v < n; ++v) mean += u[v][o] / static_cast<double>(n);
      for (size_t v = 0; v < n; ++v) {
        variance += (u[v][o] - mean) * (u[v][o] - mean) / static_cast<double>(n);
      }
      const double gamma = parameters[static_cast<size_t>(shape.gamma(layer)) + o];
      const double beta = parameters[static_cast<size_t>(shape.beta(layer)) + o];
      for (size_t v = 0; v < n; ++v) {
        u[v][o] = std::max(0.0, gamma * (u[v][o] - mean) / std::sqrt(variance + 1e-5) + beta);
      }
    }
    x = std::move(u);
  }
  const double* bias = parameters.data() + shape.bias();
  double loss = 0.0;
  double weights = 0.0;
  for (size_t v = 0; v < n; ++v) {
    const size_t wrong =
        sample.wrong(static_cast<int64_t>(v) / kTileVoxels)[v % static_cast<size_t>(kTileVoxels)];
    const double s[] = {x[v][0] + bias[0], x[v][1] + bias[1]};
    const double weight = wrong != 0 ? kWeight : 1.0;
    loss += weight * (std::log(std::exp(s[0]) + std::exp(s[1])) - s[wrong]);
    weights += weight;
  }
  return loss / weights;
}

// Property: the gradient (SS7) of the float32 network is the central difference of the plain loss.
TEST(Selector, GradientMatchesFiniteDifference) {
  const SelectorSample sample = MakeSample();
  std::vector<double> parameters = SomeParameters();
  SelectorProblem problem(sample, sample, {.wrong_weight = kWeight, .threads = 2});
  std::vector<double> gradient(parameters.size(), 0.0);
  const double loss = problem.Evaluate(AllTiles(sample), parameters, gradient);
  EXPECT_NEAR(loss, PlainLoss(sample, parameters), 1e-6);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const double kept = parameters[i];
    constexpr double kStep = 1e-5;
    parameters[i] = kept + kStep;
    const double above = PlainLoss(sample, parameters);
    parameters[i] = kept - kStep;
    const double below = PlainLoss(sample, parameters);
    parameters[i] = kept;
    EXPECT_NEAR(gradient[i], (above - below) / (2.0 * kStep), 1e-5) << "parameter " << i;
  }
}

// One minibatch of everything has the statistics of everything.
TEST(Selector, ValidatesWithTheStatisticsOfItsTrainingSample) {
  const SelectorSample sample = MakeSample();
  const std::vector<double> parameters = SomeParameters();
  SelectorProblem problem(sample, sample, {.wrong_weight = kWeight});
  EXPECT_NEAR(problem.Validate(parameters), PlainLoss(sample, parameters), 1e-6);
}

// Closed form: a last layer without weights and the log odds as bias.
TEST(Selector, ConstantScoresHaveTheEntropyOfTheWeightedShare) {
  const SelectorSample sample = MakeSample();
  const SelectorShape shape(kSelectorClasses);
  const auto loss_at = [&](double log_odds) {
    std::vector<double> parameters = SomeParameters();
    const auto last = parameters.begin() + shape.weights(kHiddenLayers);
    std::fill_n(last, shape.num_weights(kHiddenLayers), 0.0);
    parameters[static_cast<size_t>(shape.bias())] = 0.0;
    parameters[static_cast<size_t>(shape.bias()) + 1] = log_odds;
    const Selector selector(shape, parameters, PopulationStatistics(shape, parameters, sample, 1));
    return SelectorLoss(selector, sample, kWeight, 1);
  };
  const auto wrong = static_cast<double>(sample.num_wrong());
  const double best =
      std::log(kWeight * wrong / (static_cast<double>(sample.num_voxels()) - wrong));
  const double constant = ConstantScoreLoss(sample, kWeight);
  EXPECT_NEAR(constant, loss_at(best), 1e-6);
  EXPECT_LT(constant, loss_at(best + 0.1));
  EXPECT_LT(constant, loss_at(best - 0.1));
  // Nothing is wrong: nothing to tell.
  SelectorSample right(kSelectorClasses);
  const std::vector<float> features(kSelectorClasses * kTileVoxels, -1.0f);
  for (int64_t v = 0; v < kTileVoxels; ++v) right.Add(features.data(), false);
  EXPECT_EQ(ConstantScoreLoss(right, kWeight), 0.0);
}

TEST(Selector, StepsAreTheSameBitsForAnyThreads) {
  const SelectorSample sample = MakeSample(/*num_tiles=*/200);
  const std::vector<double> parameters = SomeParameters();
  std::vector<std::vector<double>> gradients;
  std::vector<double> losses;
  for (const int threads : {1, 2, 3}) {
    SelectorProblem problem(sample, sample, {.batch_voxels = 10 * kTileVoxels, .threads = threads});
    ASSERT_EQ(problem.steps_per_epoch(), 32);
    gradients.emplace_back(parameters.size(), 0.0);
    losses.push_back(problem.Step(5, 1, parameters, gradients.back()));
    losses.back() += problem.Validate(parameters);
  }
  EXPECT_EQ(gradients[0], gradients[1]);
  EXPECT_EQ(gradients[0], gradients[2]);
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_EQ(losses[0], losses[2]);
}

// With one tile to a step its loss tells which tile it was.
TEST(Selector, AnEpochVisitsEveryTileOnceInAnOrderOfItsOwn) {
  const SelectorSample sample = MakeSample(/*num_tiles=*/12);
  const std::vector<double> parameters = SomeParameters();
  const auto losses_of = [&](SelectorProblem* problem, int64_t epoch) {
    std::vector<double> losses;
    for (int64_t step = 0; step < problem->steps_per_epoch(); ++step) {
      std::vector<double> gradient(parameters.size(), 0.0);
      losses.push_back(problem->Step(epoch, step, parameters, gradient));
    }
    return losses;
  };
  SelectorProblem one(sample, sample, {.batch_voxels = kTileVoxels});
  SelectorProblem other(sample, sample, {.batch_voxels = kTileVoxels});
  ASSERT_EQ(one.steps_per_epoch(), 12);
  std::vector<double> first = losses_of(&one, 0);
  std::vector<double> second = losses_of(&one, 1);
  EXPECT_NE(first, second);
  EXPECT_EQ(losses_of(&other, 1), second);
  EXPECT_EQ(losses_of(&other, 0), first);
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  EXPECT_EQ(first, second);
  EXPECT_EQ(std::adjacent_find(first.begin(), first.end()), first.end());
}

TEST(Selector, LearnsWhatCanBeLearned) {
  const SelectorSample training = MakeSample(/*num_tiles=*/40);
  SelectorProblem problem(training, training, {.threads = 2});
  TrainOptions options;
  options.adam.learning_rate = 1e-2;
  options.max_epochs = 30;
  const TrainState start =
      StartTraining(&problem, SelectorStart(SelectorShape(kSelectorClasses), 1), options);
  const TrainResult result = Train(&problem, start, options);
  // The noise of the labels alone leaves about 0.18.
  EXPECT_LT(result.state.best_loss, 0.25);
  EXPECT_GT(result.state.start_loss, 0.5);
}

// Closed form: log(p + 1e-16), also where p is nothing in float32.
TEST(Selector, SeesLogProbabilitiesWithAFloor) {
  RandomTile random(3, 4, 200, 60.0);
  std::vector<float> features(4 * kTileVoxels);
  SelectorFeatures(random.tile, features.data());
  for (int64_t v = 0; v < 200; ++v) {
    double sum = 0.0;
    for (int64_t c = 0; c < 4; ++c) {
      sum += std::exp(static_cast<double>(random.tile.logits[c * kTileVoxels + v]));
    }
    for (int64_t c = 0; c < 4; ++c) {
      const double p = std::exp(double{random.tile.logits[c * kTileVoxels + v]}) / sum;
      const double found = static_cast<double>(features[static_cast<size_t>(c * kTileVoxels + v)]);
      EXPECT_NEAR(found, std::log(p + 1e-16), 4e-6) << "class " << c << " voxel " << v;
    }
  }
}

TEST(Selector, IsTheSameAfterAFile) {
  const SelectorSample sample = MakeSample();
  const SelectorShape shape(kSelectorClasses);
  const std::vector<double> parameters = SomeParameters();
  const Selector selector(shape, parameters, PopulationStatistics(shape, parameters, sample, 1));
  const Json json = ParseJson(DumpJson(selector.ToJson()), "selector");
  const Selector read = Selector::FromJson(json, kSelectorClasses, "selector");
  EXPECT_EQ(SelectorLoss(selector, sample, 2.0, 1), SelectorLoss(read, sample, 2.0, 2));
  testing::ExpectError(ErrorCode::kBadData, {"selector", "weights", "9 numbers", "16"}, [&] {
    Selector::FromJson(json, 4, "selector");
  });
  Json negative = json;
  negative[1]["variance"][0] = -1.0;
  testing::ExpectError(ErrorCode::kBadData, {"variance", "-1"}, [&] {
    Selector::FromJson(negative, kSelectorClasses, "selector");
  });
}

}  // namespace
}  // namespace segcal
