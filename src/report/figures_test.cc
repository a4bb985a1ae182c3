// SPDX-License-Identifier: Apache-2.0
#include "segcal/figures.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/svg_reader_for_test.h"
#include "segcal/tables.h"
#include "tests/support/errors.h"
#include "tests/support/models.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;

// Three cases evaluated without a calibrator and with a temperature.
class FiguresTest : public ::testing::Test {
 protected:
  FiguresTest()
      : dataset_(testing::WriteScene(
            testing::RandomScene({.num_cases = 3, .num_classes = 3, .shape = {24, 30}}),
            folder_.path())),
        models_({Baseline(dataset_, "none(z)"), testing::TemperatureModel(dataset_, 0.5)}) {}

  EvaluateResult Result(std::vector<std::string> families = {}) const {
    EvaluateOptions options;
    options.families = std::move(families);
    return Evaluate(dataset_, models_, options);
  }
  std::string DrawCase(const std::string& id) const {
    return CaseFigure(dataset_, models_, Result(), {.run = {}, .case_id = id});
  }

  testing::TempFolder folder_;
  Dataset dataset_;
  std::vector<Model> models_;
};

bool Says(const std::string& svg, const std::string& text) {
  const auto texts = testing::Texts(testing::ReadSvg(svg));
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

std::vector<std::string> Names(const std::vector<Figure>& figures) {
  std::vector<std::string> names;
  for (const Figure& figure : figures) names.push_back(figure.name);
  return names;
}

TEST_F(FiguresTest, AreThoseThatThereAreNumbersFor) {
  const EvaluateResult all = Result({"all"});
  EXPECT_EQ(
      Names(EvaluationFigures(dataset_, models_, all)),
      (std::vector<std::string>{
          "reliability.svg", "reliability_classes.svg", "reliability_regions.svg", "case.svg"}));
  const EvaluateResult few = Result({"overlap"});
  EXPECT_EQ(Names(EvaluationFigures(dataset_, models_, few)),
            (std::vector<std::string>{"case.svg"}));
}

TEST_F(FiguresTest, AreWellFormedAndNameEveryPipeline) {
  const EvaluateResult result = Result();
  for (const Figure& figure : EvaluationFigures(dataset_, models_, result))
    testing::ExpectGoodLayout(figure.svg);
  const std::string reliability = ReliabilityFigure(result);
  for (const std::string& name : ShownPipelines(result)) EXPECT_TRUE(Says(reliability, name));
}

TEST_F(FiguresTest, ShowTheFirstEvaluatedCaseUnlessToldAnother) {
  EXPECT_TRUE(Says(DrawCase(""), "case0"));
  EXPECT_TRUE(Says(DrawCase("case2"), "case2"));
  // A case that was left out of the evaluation has no numbers.
  EvaluateResult result = Result();
  for (PipelineMetrics& pipeline : result.pipelines) pipeline.cases.erase(pipeline.cases.begin());
  EXPECT_TRUE(Says(CaseFigure(dataset_, models_, result), "case1"));
  ExpectError(ErrorCode::kInvalidArgument, {"\"case0\"", "2"}, [&] {
    CaseFigure(dataset_, models_, result, {.run = {}, .case_id = "case0"});
  });
}

TEST_F(FiguresTest, RefuseModelsThatDidNotGiveTheResult) {
  const std::vector<Model> one = {models_.front()};
  ExpectError(ErrorCode::kInvalidArgument, {"1 models", "2 pipelines"}, [&] {
    CaseFigure(dataset_, one, Result());
  });
  ExpectError(ErrorCode::kInvalidArgument, {"no pipeline"}, [] { ReliabilityFigure({}); });
}

TEST_F(FiguresTest, DrawTheFreeEnergyOfTheCasesAskedForOrOfAPage) {
  const DatasetSummary summary = Inspect(dataset_);
  const std::string page = FreeEnergyFigure(dataset_, summary);
  for (const char* id : {"case0", "case1", "case2"}) EXPECT_TRUE(Says(page, id)) << id;
  const std::string one = FreeEnergyFigure(dataset_, summary, {.run = {}, .case_ids = {"case1"}});
  EXPECT_TRUE(Says(one, "case1"));
  EXPECT_FALSE(Says(one, "case0"));
  ExpectError(ErrorCode::kInvalidArgument, {"\"case9\""}, [&] {
    FreeEnergyFigure(dataset_, summary, {.run = {}, .case_ids = {"case9"}});
  });
}

}  // namespace
}  // namespace segcal
