// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/json.h"
#include "methods/affine/affine_fit.h"
#include "pipeline/model.h"
#include "pipeline/spec.h"
#include "segcal/evaluate.h"
#include "segcal/fit.h"
#include "tests/support/errors.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::RandomScene;
using testing::Scene;
using testing::TempFolder;
using testing::WriteScene;

// Trials stop at a gradient of 1e-4, where the loss is this near its minimum: what ties.
constexpr double kTrialError = 2e-5;

FitOptions Search(int64_t trials) {
  FitOptions options;
  options.search = trials;
  options.select = Selection::kValidation;  // where there are validation cases
  return options;
}

// The summed loss over the labelled voxels of a split, and their number.
LossTotal LossOn(const Dataset& dataset, const std::string& split, const Model& model) {
  EvaluateOptions options;
  options.split = split;
  options.families = {"scores"};
  const EvaluateResult result = Evaluate(dataset, {model}, options);
  const auto voxels = static_cast<double>(result.labelled);
  for (const MetricValue& value : result.pipelines[0].pooled) {
    if (value.name == "nll") return {.loss = value.value * voxels, .voxels = voxels};
  }
  ADD_FAILURE() << "no nll";
  return {};
}

class AffineSearch : public ::testing::Test {
 protected:
  // Few voxels for many parameters: penalties matter.
  AffineSearch()
      : dataset_(WriteScene(RandomScene({.num_cases = 6, .num_classes = 4, .shape = {9, 8}}),
                            folder_.path())) {}

  void NameSplits() {
    for (size_t c = 0; c < 6; ++c) dataset_.cases[c].split = c < 4 ? "calibration" : "validation";
  }

  TempFolder folder_;
  Dataset dataset_;
};

// Enough voxels for every trial to reach its optimum.
TEST(AffineSearchTrials, HaveTheLossOfTheirFitsOnTheValidationCases) {
  const TempFolder folder;
  Dataset dataset = WriteScene(RandomScene({.shape = {60, 70}}), folder.path());
  dataset.cases[0].split = "calibration";
  dataset.cases[1].split = "validation";
  const Model model = Fit(dataset, "dc(z)", Search(8)).model;
  const SearchReport& search = model.report().search;
  ASSERT_EQ(search.trials.size(), 8u);
  for (const SearchTrial& trial : search.trials) {
    const std::string pipeline =
        FormatPipeline({.stages = {"dc"}, .pooling = Pooling{}, .options = trial.options});
    const LossTotal expected =
        LossOn(dataset, "validation", Fit(dataset, pipeline, Search(0)).model);
    EXPECT_NEAR(trial.validation_nll, expected.loss / expected.voxels, kTrialError) << pipeline;
  }
}

double LowestLoss(const SearchReport& search) {
  double lowest = search.trials.front().validation_nll;
  for (const SearchTrial& trial : search.trials) lowest = std::min(lowest, trial.validation_nll);
  return lowest;
}

TEST_F(AffineSearch, ChoosesTheBestTrialAndFitsWithIt) {
  NameSplits();
  const Model model = Fit(dataset_, "cdc(z)", Search(12)).model;
  const SearchReport& search = model.report().search;
  const double lowest = LowestLoss(search);
  EXPECT_GT(search.trials[0].validation_nll, lowest + kTrialError)
      << "the default is best here: this test says little";
  const auto chosen =
      std::find_if(search.trials.begin(), search.trials.end(), [&](const SearchTrial& trial) {
        return trial.options == search.chosen;
      });
  ASSERT_NE(chosen, search.trials.end());
  EXPECT_LE(chosen->validation_nll, lowest + kTrialError);
  const LossTotal found = LossOn(dataset_, "validation", model);
  EXPECT_NEAR(found.loss / found.voxels, lowest, 2 * kTrialError);
  EXPECT_EQ(ModelAccess::State(model).spec.options, chosen->options);
}

// A trial starts where the best one ended, which is within its tolerance for a weak penalty. It
// moves all the same: other penalties, other losses, however little they differ.
TEST(AffineSearchTrials, MoveFromWhereAnotherEnded) {
  const TempFolder folder;
  Dataset dataset = WriteScene(RandomScene({.num_classes = 2, .shape = {150, 160}}), folder.path());
  dataset.cases[0].split = "calibration";
  dataset.cases[1].split = "validation";
  const SearchReport search =
      Fit(dataset, "dc(z, mu=0, lambda=0)", Search(12)).model.report().search;
  std::map<double, std::string> by_loss;
  for (const SearchTrial& trial : search.trials) {
    const auto [other, first] = by_loss.emplace(trial.validation_nll, trial.options.at("kappa"));
    EXPECT_TRUE(first || other->second == trial.options.at("kappa"))
        << other->second << " and " << trial.options.at("kappa") << " both have " << other->first;
  }
  EXPECT_GT(by_loss.size(), 6u);
}

// Many voxels for few parameters: hardly a penalty matters. Of those that tie the given one stays,
// and where it does not, the one that holds the map most.
TEST(AffineSearchTrials, TieWhereTheyDifferByLessThanTheyAreKnown) {
  const TempFolder folder;
  Dataset dataset = WriteScene(RandomScene({.num_classes = 3, .shape = {150, 160}}), folder.path());
  dataset.cases[0].split = "calibration";
  dataset.cases[1].split = "validation";
  bool given_tied = false;
  bool given_lost = false;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    for (const char* pipeline : {"dc(z, mu=0, lambda=0)", "ms(z, mu=0, lambda=0)"}) {
      FitOptions options = Search(12);
      options.seed = seed;
      const SearchReport search = Fit(dataset, pipeline, options).model.report().search;
      const double lowest = LowestLoss(search);
      double expected = -1.0;
      for (const SearchTrial& trial : search.trials) {
        if (trial.validation_nll > lowest + kTrialError) continue;
        expected = std::max(expected, std::stod(trial.options.at("kappa")));
      }
      const bool tied = search.trials[0].validation_nll <= lowest + kTrialError;
      if (tied) expected = std::stod(search.trials[0].options.at("kappa"));
      EXPECT_EQ(std::stod(search.chosen.at("kappa")), expected) << pipeline << " " << seed;
      (tied ? given_tied : given_lost) = true;
    }
  }
  EXPECT_TRUE(given_tied) << "this test says little";
  EXPECT_TRUE(given_lost) << "this test says little";
}

TEST_F(AffineSearch, LeavesWhatThePipelineNames) {
  NameSplits();
  const Model model = Fit(dataset_, "cdc(z, kappa=0.01, mu=0)", Search(5)).model;
  const SearchReport& search = model.report().search;
  ASSERT_EQ(search.trials.size(), 5u);
  for (const SearchTrial& trial : search.trials) {
    ASSERT_EQ(trial.options.size(), 1u);
    EXPECT_TRUE(trial.options.contains("lambda"));
  }
  EXPECT_EQ(ModelAccess::State(model).spec.options.at("kappa"), "0.01");
  const Model fixed = Fit(dataset_, "cdc(z, kappa=0.01, lambda=0, mu=0)", Search(5)).model;
  EXPECT_TRUE(fixed.report().search.trials.empty());
}

// Written with the name of its stage it is the same option.
TEST_F(AffineSearch, LeavesWhatThePipelineNamesAfterAnotherStage) {
  NameSplits();
  const Model model =
      Fit(dataset_, "selective+dc(z, dc.kappa=0.1, selective.epochs=0)", Search(3)).model;
  const SearchReport& search = model.report().search;
  ASSERT_EQ(search.trials.size(), 3u);
  for (const SearchTrial& trial : search.trials) EXPECT_FALSE(trial.options.contains("kappa"));
  EXPECT_EQ(ModelAccess::State(model).spec.options.at("dc.kappa"), "0.1");
}

// Three groups make three of five folds; each is held out once, and all its voxels count alike.
TEST_F(AffineSearch, CrossValidatesOverGroupsWithoutValidationCases) {
  const char* groups[] = {"a", "b", "b", "c", "b", "c"};
  for (size_t c = 0; c < 6; ++c) dataset_.cases[c].group = groups[c];
  const Model model = Fit(dataset_, "dc(z)", Search(2)).model;
  const SearchReport& search = model.report().search;
  ASSERT_EQ(search.trials.size(), 2u);
  LossTotal expected;
  for (const std::string held : {"a", "b", "c"}) {
    for (Case& c : dataset_.cases) c.split = c.group == held ? "held" : "calibration";
    const LossTotal own = LossOn(dataset_, "held", Fit(dataset_, "dc(z)", Search(0)).model);
    expected.loss += own.loss;
    expected.voxels += own.voxels;
  }
  EXPECT_NEAR(search.trials[0].validation_nll, expected.loss / expected.voxels, kTrialError);
}

// The loss of a penalty over all folds, each fitted alone.
double FoldLoss(Dataset dataset, const std::map<std::string, std::string>& options) {
  std::vector<std::pair<std::string, double>> parts;
  for (int k = 0; k < 5; ++k) parts.emplace_back("fold " + std::to_string(k), 1.0);
  AssignSplits(&dataset, parts, /*seed=*/0);
  const std::string pipeline =
      FormatPipeline({.stages = {"dc"}, .pooling = Pooling{}, .options = options});
  LossTotal total;
  for (const auto& [held, weight] : parts) {
    Dataset fold = dataset;
    for (Case& c : fold.cases) c.split = c.split == held ? "held" : "calibration";
    const LossTotal own = LossOn(fold, "held", Fit(fold, pipeline, Search(0)).model);
    total.loss += own.loss;
    total.voxels += own.voxels;
  }
  return total.loss / total.voxels;
}

// Trials that fall behind on the first folds are given up; none of them would have won.
TEST(AffineSearchTrials, AreGivenUpWhereTheyFallBehindOnTheFirstFolds) {
  const TempFolder folder;
  const Dataset dataset =
      WriteScene(RandomScene({.num_cases = 6, .num_classes = 4, .shape = {32, 30}}), folder.path());
  const SearchReport search = Fit(dataset, "dc(z)", Search(12)).model.report().search;
  const double chosen = FoldLoss(dataset, search.chosen);
  double best = search.trials[0].validation_nll;
  int given_up = 0;
  for (const SearchTrial& trial : search.trials) {
    const double whole = FoldLoss(dataset, trial.options);
    EXPECT_GE(whole, chosen - 2 * kTrialError);
    if (std::abs(trial.validation_nll - whole) > 2 * kTrialError) {
      ++given_up;
      EXPECT_GT(trial.validation_nll, best + kTrialError);
    }
    best = std::min(best, trial.validation_nll);
  }
  EXPECT_GT(given_up, 2) << "all trials were done whole: this test says little";
  EXPECT_LT(given_up, 11);
}

TEST_F(AffineSearch, RefusesCasesThatCannotChoose) {
  NameSplits();
  FitOptions same = Search(3);
  same.validation = "calibration";
  for (const char* split : {"", "calibration"}) {
    same.split = split;
    ExpectError(ErrorCode::kInvalidArgument, {"calibration", "option validation"}, [&] {
      Fit(dataset_, "dc(z)", same);
    });
  }
  // Fitted on, they are no longer there to choose by.
  FitOptions fitted = Search(0);
  fitted.search.reset();
  fitted.split = "validation";
  EXPECT_TRUE(Fit(dataset_, "dc(z)", fitted).model.report().search.trials.empty());
}

TEST(AffineSearchEdges, NeedsLabelledVoxelsToChooseBy) {
  Scene scene = RandomScene({.num_cases = 2, .shape = {9, 8}});
  std::fill(scene.labels[1].begin(), scene.labels[1].end(), 255);
  const TempFolder folder;
  Dataset dataset = WriteScene(scene, folder.path());
  dataset.cases[0].split = "calibration";
  dataset.cases[1].split = "validation";
  ExpectError(ErrorCode::kBadData, {"no labelled voxel", "search 0"}, [&] {
    Fit(dataset, "dc(z)", Search(3));
  });
}

// definitions: an expert without voxels is the identity where nothing shrinks it elsewhere, even if
// trials before did.
TEST(AffineSearchEdges, LeaveAnExpertWithoutVoxelsAtTheIdentity) {
  // So few voxels that any shrinkage is seen.
  Scene scene = RandomScene({.num_cases = 2, .num_classes = 3, .shape = {14, 14}});
  const auto voxels = static_cast<size_t>(scene.num_voxels());
  std::vector<float>& logits = scene.logits[0][0];
  for (size_t v = 0; v < voxels; ++v) logits[2 * voxels + v] = logits[v] - 1.0f;
  // Chosen by the voxels fitted on, no shrinkage is best.
  scene.logits[1] = scene.logits[0];
  scene.labels[1] = scene.labels[0];
  const TempFolder folder;
  Dataset dataset = WriteScene(scene, folder.path());
  dataset.cases[0].split = "calibration";
  dataset.cases[1].split = "validation";
  for (uint64_t seed = 0; seed < 20; ++seed) {
    FitOptions options = Search(20);
    options.seed = seed;
    const Model model = Fit(dataset, "cdc(z, lambda=0, mu=0)", options).model;
    if (ModelAccess::State(model).spec.options.at("kappa") != "0") continue;
    const Json expert = ModelAccess::State(model).calibrator->Parameters()["experts"][2];
    EXPECT_EQ(expert["weights"],
              Json::parse("[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]"));
    EXPECT_EQ(expert["bias"], Json::parse("[0.0, 0.0, 0.0]"));
    EXPECT_NE(model.report().status, FitStatus::kNotConverged);
    return;
  }
  FAIL() << "no search chose kappa = 0";
}

// Data sets of so many cases, all in their own group or in one of `groups`.
Dataset CasesInGroups(int cases, int groups) {
  Dataset dataset;
  for (int c = 0; c < cases; ++c) {
    Case entry{.id = std::to_string(c)};
    if (groups > 0) entry.group = std::to_string(c % groups);
    dataset.cases.push_back(entry);
  }
  return dataset;
}

constexpr AffineShape kMatrixOfThree{.space = AffineSpace::kLogProbs, .num_classes = 3};

TEST(WhyPenalised, CountsVoxelsPerFreeParameter) {
  const Dataset many = CasesInGroups(50, 0);
  // 3 x 3 weights and 3 biases: ten voxels for each are 120.
  EXPECT_EQ(WhyPenalised(kMatrixOfThree, {119}, many),
            "119 labelled voxels are few for the 12 parameters of the map");
  EXPECT_EQ(WhyPenalised(kMatrixOfThree, {120}, many).find("few"), std::string::npos);
  // Of a diagonal map 3 weights and 3 biases are free.
  AffineShape diagonal = kMatrixOfThree;
  diagonal.diagonal = true;
  EXPECT_EQ(WhyPenalised(diagonal, {59}, many),
            "59 labelled voxels are few for the 6 parameters of the map");
  EXPECT_EQ(WhyPenalised(diagonal, {60}, many).find("few"), std::string::npos);
}

TEST(WhyPenalised, LooksAtTheExpertWithTheFewestVoxels) {
  AffineShape experts = kMatrixOfThree;
  experts.per_decision = true;
  const Dataset many = CasesInGroups(50, 0);
  // One that has none at all is not fitted.
  EXPECT_EQ(WhyPenalised(experts, {100'000, 0, 7}, many),
            "7 labelled voxels are few for the 12 parameters of an expert");
  EXPECT_EQ(WhyPenalised(experts, {100'000, 0, 700}, many).find("few"), std::string::npos);
}

TEST(WhyPenalised, CountsImagesOrTheirGroups) {
  const std::vector<int64_t> enough = {885'000};
  EXPECT_EQ(WhyPenalised(kMatrixOfThree, enough, CasesInGroups(9, 0)),
            "9 images or groups are few to learn more from; ts needs less");
  EXPECT_EQ(WhyPenalised(kMatrixOfThree, enough, CasesInGroups(50, 4)),
            "4 images or groups are few to learn more from; ts needs less");
  EXPECT_EQ(WhyPenalised(kMatrixOfThree, enough, CasesInGroups(10, 0)),
            "more than that did not help on the cases it was chosen by; ts may do as well");
}

}  // namespace
}  // namespace segcal
