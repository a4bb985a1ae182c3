// SPDX-License-Identifier: Apache-2.0
// Every calibrator and every metric gives the same bytes in parts as in one piece, including those
// added tomorrow.
#include "segcal/parts.h"

#include "tests/conformance/method_test.h"

namespace segcal {
namespace {

using testing::Scene;

class EveryCalibratorInParts : public testing::MethodTest {};

TEST_P(EveryCalibratorInParts, GivesTheMetricsAndFilesOfOnePiece) {
  const Scene scene =
      MakeScene({.seed = 6, .num_cases = 5, .num_members = 2, .num_classes = 4, .shape = {24, 33}});
  const testing::TempFolder folder;
  const Model model = FitTo(scene);
  const Dataset dataset = testing::WriteScene(scene, folder.File("data"));
  EvaluateOptions options;
  options.families = {"all"};
  ApplyOptions apply;
  Apply(model, dataset, folder.File("whole"), apply);
  std::vector<PartState> evaluated;
  for (const int64_t index : {2, 3, 1}) {
    options.run.threads = apply.run.threads = static_cast<int>(index);
    evaluated.push_back(EvaluatePart(dataset, {model}, options, {index, 3}));
    ApplyPart(model, dataset, folder.File("parts"), apply, {index, 3});
  }
  EXPECT_EQ(ToJson(MergeEvaluate(evaluated)), ToJson(Evaluate(dataset, {model}, options)));
  for (const Case& c : dataset.cases)
    EXPECT_EQ(folder.Get("parts/" + c.id + ".npy"), folder.Get("whole/" + c.id + ".npy")) << c.id;
}

INSTANTIATE_TEST_SUITE_P(List,
                         EveryCalibratorInParts,
                         ::testing::ValuesIn(Calibrators()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace segcal
