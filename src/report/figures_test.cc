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
  EXPECT_EQ(Names(EvaluationFigures(dataset_, models_, all)),
            (std::vector<std::string>{"reliability.svg",
                                      "reliability_classes.svg",
                                      "reliability_regions.svg",
                                      "risk_coverage.svg",
                                      "confusion.svg",
                                      "case.svg"}));
  const EvaluateResult few = Result({"overlap"});
  EXPECT_EQ(Names(EvaluationFigures(dataset_, models_, few)),
            (std::vector<std::string>{"confusion.svg", "case.svg"}));
  EvaluateResult compared = Result({"scores"});
  compared.statistics = ComputeStatistics({&compared, 1}, {.replicates = 50});
  EXPECT_EQ(Names(EvaluationFigures(dataset_, models_, compared)),
            (std::vector<std::string>{"differences.svg", "case.svg"}));
  const std::vector<std::string> names = EvaluationFigureNames();
  for (const EvaluateResult& result : {all, few, compared}) {
    for (const std::string& name : Names(EvaluationFigures(dataset_, models_, result)))
      EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  }
}

TEST_F(FiguresTest, AreWellFormedAndNameEveryPipeline) {
  const EvaluateResult result = Result();
  for (const Figure& figure : EvaluationFigures(dataset_, models_, result))
    testing::ExpectGoodLayout(figure.svg);
  const std::string reliability = ReliabilityFigure(result);
  for (const std::string& name : ShownPipelines(result)) EXPECT_TRUE(Says(reliability, name));
}

// Gains in ECE of 0.3, 0.1 and 0.2: the last case is the typical one.
TEST_F(FiguresTest, ShowTheCaseOfTheMedianGainUnlessToldAnother) {
  EvaluateResult result = Result();
  const double before[] = {0.5, 0.2, 0.4};
  const double after[] = {0.2, 0.1, 0.2};
  for (size_t c = 0; c < 3; ++c) {
    for (size_t p = 0; p < 2; ++p) {
      for (MetricValue& value : result.pipelines[p].cases[c].metrics) {
        if (value.name == "ece") value.value = p == 0 ? before[c] : after[c];
      }
    }
  }
  EXPECT_TRUE(Says(CaseFigure(dataset_, models_, result), "case2"));
  EXPECT_TRUE(Says(DrawCase("case1"), "case1"));
  // A case that was left out of the evaluation has no numbers.
  for (PipelineMetrics& pipeline : result.pipelines) pipeline.cases.erase(pipeline.cases.begin());
  ExpectError(ErrorCode::kInvalidArgument, {"\"case0\"", "2"}, [&] {
    CaseFigure(dataset_, models_, result, {.run = {}, .case_id = "case0"});
  });
}

// What a user is told to run: the model alone, of another pooling than any baseline.
// A hundredth of a calibrated image is certain and wrong. The scale would end near 0.9 with it.
TEST(CaseFigureScale, OfLocalErrorsIsNotSetByOneHotSpot) {
  constexpr size_t kSide = 300;
  testing::Scene scene = testing::RandomScene({.num_cases = 1,
                                               .num_classes = 3,
                                               .shape = {kSide, kSide},
                                               .true_beta = 1.0,
                                               .ignored = 0.0});
  for (size_t y = 100; y < 114; ++y) {
    for (size_t x = 100; x < 114; ++x) {
      const size_t v = y * kSide + x;
      for (size_t c = 0; c < 3; ++c)
        scene.logits[0][0][c * kSide * kSide + v] = c == 0 ? 9.0f : -9.0f;
      scene.labels[0][v] = 1;
    }
  }
  const Dataset dataset = scene.InMemory();
  const std::vector<Model> models = {Baseline(dataset, "none(z)")};
  const std::string figure = CaseFigure(dataset, models, Evaluate(dataset, models));
  int64_t scales = 0;
  const std::string at_least = "≥ ";
  for (const std::string& text : testing::Texts(testing::ReadSvg(figure))) {
    if (!text.starts_with(at_least)) continue;
    ++scales;
    EXPECT_LT(std::stod(text.substr(at_least.size())), 0.4);
  }
  EXPECT_GT(scales, 0);
}

TEST_F(FiguresTest, AlwaysHaveABeforeInThePoolingOfTheLast) {
  const Model after = testing::TemperatureModel(dataset_, 0.5, "p");
  const std::vector<Model> given = {Baseline(dataset_, "none(z)"), after};
  const std::vector<Model> all = WithBaselines(dataset_, given);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].pipeline(), "none(p)");
  EXPECT_EQ(WithBaselines(dataset_, all).size(), 3u);
  const EvaluateResult result = Evaluate(dataset_, all);
  EXPECT_TRUE(Says(ReliabilityFigure(result), "none(p)"));
  EXPECT_TRUE(Says(ClassReliabilityFigure(result), "before: none(p)"));
  EXPECT_TRUE(Says(RegionReliabilityFigure(result), "before: none(p)"));
  EXPECT_TRUE(Says(CaseFigure(dataset_, all, result), "Confidence, none(p)"));
  // The picture of a case has it even where it was not evaluated.
  const EvaluateResult without = Evaluate(dataset_, given);
  EXPECT_TRUE(Says(CaseFigure(dataset_, given, without), "Confidence, none(p)"));
  EXPECT_TRUE(Says(CaseFigure(dataset_, given, without), "Local ECE, none(p)"));
}

TEST_F(FiguresTest, OfRiskHaveACurvePerPipelineAndAnOracle) {
  const auto elements = testing::ReadSvg(RiskCoverageFigure(Result()));
  EXPECT_EQ(testing::Select(elements, "polyline").size(), 3u);
  EXPECT_TRUE(RiskCoverageFigure(Result({"scores"})).empty());
}

// A temperature keeps decisions: one matrix, of which every row sums to 100 %.
TEST_F(FiguresTest, OfConfusionShowBeforeOnlyWhereItDiffers) {
  EvaluateResult result = Result();
  EXPECT_TRUE(Says(ConfusionFigure(result), "ts(z), the same as none(z)"));
  result.pipelines[1].pipeline = "selective+ts(z)";  // wider than three classes are
  EXPECT_TRUE(Says(ConfusionFigure(result), "selective+ts(z), the same as none(z)"));
  result.pipelines[1].pipeline = "ts(z)";
  for (Diagram& diagram : result.pipelines[1].diagrams) {
    if (diagram.kind == DiagramKind::kConfusion) diagram.rows = {{3, 1, 0}, {0, 0, 0}, {0, 1, 399}};
  }
  const std::string both = ConfusionFigure(result);
  EXPECT_TRUE(Says(both, "none(z)"));
  EXPECT_TRUE(Says(both, "ts(z)"));
  for (const char* share : {"75", "25", "&lt;1", "100"}) EXPECT_TRUE(Says(both, share)) << share;
  testing::ExpectGoodLayout(both);
}

TEST_F(FiguresTest, OfDifferencesNameThePipelinesAndWhatIsEqual) {
  EvaluateResult result = Result();
  result.statistics = ComputeStatistics(
      {&result, 1}, {.pairs = {{"none(z)", "ts(z)", "a family"}}, .replicates = 50});
  const std::vector<MetricColumn> columns = MetricColumns(result, {"nll", "dsc"});
  const std::string forest = ForestFigure(result, columns);
  testing::ExpectGoodLayout(forest);
  for (const char* text : {"Differences from none(z)", "ts(z)", "NLL", "equal by construction"})
    EXPECT_TRUE(Says(forest, text)) << text;
  EXPECT_FALSE(Says(forest, "-100")) << "a scale where nothing is drawn";
  EXPECT_TRUE(Says(PairForestFigure(*result.statistics, columns), "none(z) → ts(z)"));
  EXPECT_TRUE(ForestFigure(Result(), columns).empty());
  EXPECT_TRUE(PairForestFigure(Statistics{}, columns).empty());
}

TEST_F(FiguresTest, DrawClassesInTheColoursOfTheDataSet) {
  EXPECT_EQ(DrawCase("case0").find("#123456"), std::string::npos);
  dataset_.colors = {"#123456", "#00ff00", "#0000FF"};
  EXPECT_NE(DrawCase("case0").find("#123456"), std::string::npos);
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
