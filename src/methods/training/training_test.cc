// SPDX-License-Identifier: Apache-2.0
#include "methods/training/training.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/json.h"
#include "core/rng.h"
#include "tests/support/errors.h"
#include "tests/support/scene.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;
using testing::TempFolder;

// A bowl seen through noisy minibatches: larger rates come closer sooner, too large ones never.
class Bowl final : public Trainable {
 public:
  int64_t num_parameters() const override { return 2; }
  int64_t steps_per_epoch() const override { return 3; }
  double Step(int64_t epoch,
              int64_t step,
              std::span<const double> x,
              std::span<double> gradient) override {
    Rng rng(/*seed=*/5, static_cast<uint64_t>(epoch * 3 + step));
    for (size_t i = 0; i < 2; ++i) gradient[i] = x[i] - 0.3 + 0.2 * rng.Normal();
    return Validate(x);
  }
  double Validate(std::span<const double> x) override {
    return scale * (std::pow(x[0] - 0.3, 2) + std::pow(x[1] - 0.3, 2));
  }
  double scale = 1.0;
};

// The bowl, until so many steps were taken.
struct Stopped {};
class Breaking final : public Trainable {
 public:
  Breaking(Bowl* bowl, int64_t allowed) : bowl_(bowl), allowed_(allowed) {}
  int64_t num_parameters() const override { return bowl_->num_parameters(); }
  int64_t steps_per_epoch() const override { return bowl_->steps_per_epoch(); }
  double Step(int64_t epoch,
              int64_t step,
              std::span<const double> x,
              std::span<double> gradient) override {
    if (allowed_-- == 0) throw Stopped();
    return bowl_->Step(epoch, step, x, gradient);
  }
  double Validate(std::span<const double> x) override { return bowl_->Validate(x); }

 private:
  Bowl* bowl_;
  int64_t allowed_;
};

// What a fit gives a trained method, over a small scene.
class TrainingSearchTest : public ::testing::Test {
 protected:
  TrainingSearchTest()
      : scene_(RandomScene({.num_cases = 5, .shape = {8, 8}})), stream_(scene_.Stream(1)) {}

  FitContext Context(int64_t trials, Checkpoint* checkpoint = nullptr) {
    return {.stream = *stream_,
            .validation = nullptr,
            .pooling = {},
            .sample = sample_,
            .survey = survey_,
            .seed = 3,
            .trials = trials,
            .folds = {},
            .fixed_options = fixed_,
            .checkpoint = checkpoint};
  }
  TrainingJob Job() {
    TrainingJob job{.name = "bowl", .problem = &bowl_, .start = {0.0, 0.0}, .options = {}};
    job.options.adam.learning_rate = 1e-4;
    job.options.max_epochs = 30;
    return job;
  }

  Scene scene_;
  std::unique_ptr<CaseStream> stream_;
  TileSample sample_;
  Survey survey_;
  std::vector<std::string> fixed_;
  Bowl bowl_;
};

TEST_F(TrainingSearchTest, WithoutTrialsIsOneTraining) {
  const TrainedFit fit = FitByTraining(Context(0), Job());
  EXPECT_TRUE(fit.search.trials.empty());
  EXPECT_EQ(fit.report.epochs, 30);
  EXPECT_EQ(fit.report.total_epochs, 30);
  EXPECT_EQ(fit.report.validation_nll, bowl_.Validate(fit.parameters));
  EXPECT_EQ(fit.report.history.size(), 30);
}

TEST_F(TrainingSearchTest, KeepsTheBestTrialAndPrunesBadOnes) {
  const TrainedFit fit = FitByTraining(Context(20), Job());
  ASSERT_EQ(fit.search.trials.size(), 20);
  EXPECT_EQ(fit.search.trials[0].options.at("learning_rate"), "0.0001");
  double best = INFINITY;
  int64_t epochs = 0;
  int64_t pruned = 0;
  for (const SearchTrial& trial : fit.search.trials) {
    best = std::min(best, trial.validation_nll);
    epochs += trial.epochs;
    pruned += trial.pruned ? 1 : 0;
    EXPECT_TRUE(trial.pruned || trial.epochs >= 10);
    const std::string& patience = trial.options.at("patience");
    EXPECT_TRUE(patience == "10" || patience == "20" || patience == "50") << patience;
  }
  EXPECT_GT(pruned, 0);
  EXPECT_FALSE(fit.search.trials[0].pruned);
  EXPECT_EQ(fit.report.total_epochs, epochs);
  EXPECT_EQ(fit.report.validation_nll, best);
  EXPECT_EQ(bowl_.Validate(fit.parameters), best);
  EXPECT_LT(best, 0.01 * fit.search.trials[0].validation_nll);
}

// Fitted again with what was chosen, and no search, the parameters are the same.
TEST_F(TrainingSearchTest, ChosenOptionsGiveTheChosenParameters) {
  const TrainedFit fit = FitByTraining(Context(12), Job());
  TrainingJob job = Job();
  job.options.adam.learning_rate = std::stod(fit.search.chosen.at("learning_rate"));
  job.options.adam.weight_decay = std::stod(fit.search.chosen.at("weight_decay"));
  job.options.patience = std::stol(fit.search.chosen.at("patience"));
  EXPECT_EQ(FitByTraining(Context(0), job).parameters, fit.parameters);
}

TEST_F(TrainingSearchTest, LeavesGivenOptionsAlone) {
  fixed_ = {"learning_rate", "patience"};
  const TrainedFit some = FitByTraining(Context(3), Job());
  ASSERT_EQ(some.search.trials.size(), 3);
  EXPECT_EQ(some.search.trials[2].options.size(), 1);
  EXPECT_EQ(some.search.trials[2].options.count("weight_decay"), 1);
  fixed_ = {"learning_rate", "patience", "weight_decay"};
  EXPECT_TRUE(FitByTraining(Context(3), Job()).search.trials.empty());
}

bool SameSearch(const TrainedFit& a, const TrainedFit& b) {
  bool same = a.parameters == b.parameters && a.search.chosen == b.search.chosen &&
              a.report.total_epochs == b.report.total_epochs &&
              a.search.trials.size() == b.search.trials.size();
  for (size_t t = 0; same && t < a.search.trials.size(); ++t) {
    const SearchTrial& x = a.search.trials[t];
    const SearchTrial& y = b.search.trials[t];
    same = x.options == y.options && x.validation_nll == y.validation_nll && x.epochs == y.epochs &&
           x.pruned == y.pruned;
  }
  return same;
}

// A search that is broken off after every so many steps, again and again, ends as if it had not.
TEST_F(TrainingSearchTest, GoesOnWhereItWasStopped) {
  const TrainedFit whole = FitByTraining(Context(12), Job());
  const TempFolder folder;
  int64_t stops = 0;
  for (;;) {
    Checkpoint checkpoint(folder.File("kept"), 1, /*resume=*/true);
    Breaking breaking(&bowl_, 37);
    TrainingJob job = Job();
    job.problem = &breaking;
    try {
      const TrainedFit fit = FitByTraining(Context(12, &checkpoint), job);
      EXPECT_TRUE(SameSearch(fit, whole));
      break;
    } catch (const Stopped&) {
      ++stops;
    }
  }
  EXPECT_GT(stops, 5);
}

// The names of files may be the same and their content another.
TEST_F(TrainingSearchTest, RefusesToGoOnWithOtherData) {
  const TempFolder folder;
  Breaking breaking(&bowl_, 37);
  TrainingJob job = Job();
  job.problem = &breaking;
  Checkpoint checkpoint(folder.File("kept"), 1, /*resume=*/false);
  EXPECT_THROW(FitByTraining(Context(0, &checkpoint), job), Stopped);
  bowl_.scale = 1.0 + 1e-15;
  testing::ExpectError(ErrorCode::kBadData, {folder.File("kept"), "data have changed"}, [&] {
    FitByTraining(Context(0, &checkpoint), Job());
  });
}

// Nor is a training that has ended taken for one of these data.
TEST_F(TrainingSearchTest, RefusesTheResultOfOtherData) {
  const TempFolder folder;
  for (const int64_t trials : {0, 3}) {
    Checkpoint checkpoint(folder.File("kept"), 1, /*resume=*/false);
    bowl_.scale = 1.0;
    const TrainedFit fit = FitByTraining(Context(trials, &checkpoint), Job());
    EXPECT_TRUE(SameSearch(FitByTraining(Context(trials, &checkpoint), Job()), fit));
    bowl_.scale = 1.0 + 1e-15;
    testing::ExpectError(ErrorCode::kBadData, {folder.File("kept"), "data have changed"}, [&] {
      FitByTraining(Context(trials, &checkpoint), Job());
    });
  }
}

TEST(SplitForTraining, HoldsOutWholeGroupsBySeed) {
  Scene scene = RandomScene({.num_cases = 10, .shape = {4, 4}});
  for (size_t c = 0; c < 10; ++c) scene.dataset.cases[c].group = "g" + std::to_string(c / 2);
  const auto stream = scene.Stream(1);
  const TileSample sample;
  const Survey survey;
  FitContext context{.stream = *stream,
                     .pooling = {},
                     .sample = sample,
                     .survey = survey,
                     .seed = 4,
                     .folds = {},
                     .fixed_options = {}};
  const TrainingCases cases = SplitForTraining(context);
  ASSERT_EQ(cases.validation->num_cases(), 2);
  EXPECT_EQ(cases.training->num_cases(), 8);
  const std::string held = cases.validation->dataset().cases[0].group;
  EXPECT_EQ(cases.validation->dataset().cases[1].group, held);
  for (const Case& c : cases.training->dataset().cases) EXPECT_NE(c.group, held);
  EXPECT_EQ(cases.warnings.size(), 1);
  const TrainingCases again = SplitForTraining(context);
  EXPECT_EQ(again.validation->dataset().cases[0].id, cases.validation->dataset().cases[0].id);
  // The arrays go with the cases.
  for (int64_t c = 0; c < 2; ++c) {
    EXPECT_EQ(cases.validation->Open(c)->id(),
              cases.validation->dataset().cases[static_cast<size_t>(c)].id);
  }
}

TEST(SplitForTraining, UsesAllOfASingleGroupTwiceAndSaysSo) {
  const Scene scene = RandomScene({.num_cases = 1, .shape = {4, 4}});
  const auto stream = scene.Stream(1);
  const TileSample sample;
  const Survey survey;
  const TrainingCases cases = SplitForTraining({.stream = *stream,
                                                .pooling = {},
                                                .sample = sample,
                                                .survey = survey,
                                                .folds = {},
                                                .fixed_options = {}});
  EXPECT_EQ(cases.training->num_cases(), 1);
  EXPECT_EQ(cases.validation->num_cases(), 1);
  ASSERT_EQ(cases.warnings.size(), 1);
  EXPECT_NE(cases.warnings[0].find("single group"), std::string::npos);
}

}  // namespace
}  // namespace segcal
