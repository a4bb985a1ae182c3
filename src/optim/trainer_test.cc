// SPDX-License-Identifier: Apache-2.0
#include "optim/trainer.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "core/json.h"
#include "core/rng.h"
#include "optim/train_json.h"

namespace segcal {
namespace {

// Least squares around a centre, seen through noisy minibatches. Validation is exact.
class Bowl final : public Trainable {
 public:
  explicit Bowl(double noise = 0.0) : noise_(noise) {}

  int64_t num_parameters() const override { return 3; }
  int64_t steps_per_epoch() const override { return 7; }
  double Step(int64_t epoch,
              int64_t step,
              std::span<const double> x,
              std::span<double> gradient) override {
    Rng rng(/*seed=*/5, static_cast<uint64_t>(epoch * 7 + step));
    double loss = 0.0;
    for (size_t i = 0; i < 3; ++i) {
      const double d = x[i] - kCentre[i] - noise_ * rng.Normal();
      loss += d * d;
      gradient[i] = 2.0 * d;
    }
    if (epoch >= broken_from) gradient[1] = std::nan("");
    return loss;
  }
  double Validate(std::span<const double> x) override {
    double loss = 0.0;
    for (size_t i = 0; i < 3; ++i) loss += (x[i] - kCentre[i]) * (x[i] - kCentre[i]);
    return loss;
  }

  static constexpr double kCentre[3] = {1.0, -2.0, 0.5};
  int64_t broken_from = 1000000;

 private:
  double noise_;
};

TrainResult TrainBowl(Bowl bowl, const TrainOptions& options, const EpochHook& hook = {}) {
  return Train(&bowl, StartTraining(&bowl, {0.0, 0.0, 0.0}, options), options, hook);
}

TEST(Train, FindsTheMinimum) {
  TrainOptions options;
  options.adam.learning_rate = 0.05;
  const TrainResult result = TrainBowl(Bowl(), options);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(result.state.best_parameters[i], Bowl::kCentre[i], 1e-4);
  }
  EXPECT_EQ(result.state.start_loss, 5.25);
}

TEST(Train, KeepsTheStartWhereNoEpochIsBetter) {
  TrainOptions options;
  options.adam.learning_rate = 100.0;
  options.plateau.factor = 1.0;
  options.patience = 4;
  const TrainResult result = TrainBowl(Bowl(), options);
  EXPECT_EQ(result.stopped_by, TrainStop::kPatience);
  EXPECT_EQ(result.state.epochs(), 4);
  EXPECT_EQ(result.state.best_epoch, 0);
  EXPECT_EQ(result.state.best_loss, 5.25);
  EXPECT_EQ(result.state.best_parameters, (std::vector<double>{0.0, 0.0, 0.0}));
}

TEST(Train, KeepsTheBestEpochNotTheLast) {
  TrainOptions options;
  options.adam.learning_rate = 0.1;
  options.plateau.factor = 1.0;
  options.max_epochs = 60;
  options.patience = 0;
  Bowl bowl(/*noise=*/1.0);
  const TrainResult result = TrainBowl(bowl, options);
  EXPECT_EQ(result.stopped_by, TrainStop::kMaxEpochs);
  EXPECT_EQ(result.state.epochs(), 60);
  double best = result.state.start_loss;
  for (const TrainEpoch& epoch : result.state.history) best = std::min(best, epoch.validation_loss);
  EXPECT_EQ(result.state.best_loss, best);
  EXPECT_EQ(bowl.Validate(result.state.best_parameters), best);
  EXPECT_LT(best, result.state.history.back().validation_loss);
}

TEST(Train, LowersTheRateOnAPlateau) {
  TrainOptions options;
  options.adam.learning_rate = 0.1;
  options.plateau.patience = 2;
  options.max_epochs = 80;
  options.patience = 0;
  const TrainResult result = TrainBowl(Bowl(/*noise=*/1.0), options);
  EXPECT_LT(result.state.history.back().learning_rate, 0.01);
}

TEST(Train, StopsWhereTheCallerSaysSo) {
  const auto three = [](const TrainState& state) { return state.epochs() < 3; };
  const TrainResult result = TrainBowl(Bowl(), {}, three);
  EXPECT_EQ(result.stopped_by, TrainStop::kHook);
  EXPECT_EQ(result.state.epochs(), 3);
}

TEST(Train, EndsWithWhatItHadWhereAGradientIsNotFinite) {
  Bowl bowl;
  bowl.broken_from = 2;
  const TrainResult result = TrainBowl(bowl, {});
  EXPECT_EQ(result.stopped_by, TrainStop::kNotFinite);
  EXPECT_EQ(result.state.epochs(), 2);
  EXPECT_EQ(result.state.best_epoch, 2);
  EXPECT_LT(result.state.best_loss, 5.25);
}

bool SameBits(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<uint64_t>(a[i]) != std::bit_cast<uint64_t>(b[i])) return false;
  }
  return true;
}

// Stopped after every epoch in turn, written, read and continued: the same bits in the end.
TEST(Train, GoesOnAsIfItHadNotStopped) {
  TrainOptions options;
  options.adam.learning_rate = 0.1;
  options.plateau.patience = 2;
  options.max_epochs = 25;
  options.patience = 10;
  Bowl bowl(/*noise=*/0.7);
  const TrainResult whole = TrainBowl(bowl, options);
  for (int64_t stop = 1; stop < whole.state.epochs(); ++stop) {
    const auto until = [&](const TrainState& state) { return state.epochs() < stop; };
    const std::string kept = DumpJson(TrainStateToJson(TrainBowl(bowl, options, until).state));
    TrainState state = TrainStateFromJson(ParseJson(kept, "kept"), 3, "kept");
    ASSERT_EQ(state.epochs(), stop);
    const TrainResult rest = Train(&bowl, std::move(state), options);
    EXPECT_EQ(rest.stopped_by, whole.stopped_by);
    EXPECT_EQ(rest.state.best_epoch, whole.state.best_epoch);
    EXPECT_TRUE(SameBits(rest.state.best_parameters, whole.state.best_parameters)) << stop;
    EXPECT_TRUE(SameBits(rest.state.parameters, whole.state.parameters)) << stop;
    EXPECT_TRUE(SameBits(rest.state.moments.second, whole.state.moments.second)) << stop;
    EXPECT_EQ(rest.state.plateau.learning_rate, whole.state.plateau.learning_rate);
  }
}

// A state that was kept when training had ended does not train on.
TEST(Train, DoesNotGoOnPastItsEnd) {
  TrainOptions options;
  options.adam.learning_rate = 100.0;
  options.patience = 4;
  Bowl bowl;
  TrainResult ended = TrainBowl(bowl, options);
  const TrainResult again = Train(&bowl, ended.state, options);
  EXPECT_EQ(again.stopped_by, TrainStop::kPatience);
  EXPECT_EQ(again.state.epochs(), ended.state.epochs());
}

}  // namespace
}  // namespace segcal
