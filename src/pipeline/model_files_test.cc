// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "segcal/evaluate.h"
#include "segcal/model.h"
#include "tests/support/errors.h"
#include "tests/support/models.h"
#include "tests/support/scene.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::FitAs;
using testing::RandomScene;
using testing::TempFolder;

TEST(LoadModels, GivesThoseOfAFolderInTheOrderOfTheMethods) {
  const TempFolder folder;
  const auto scene = RandomScene({.num_classes = 3});
  FitAs("vs(z)", scene).Save(folder.File("a.json"));
  FitAs("ts(z)", scene).Save(folder.File("c.json"));
  FitAs("ts(p)", scene).Save(folder.File("b.json"));
  Baseline(scene.dataset, "none(z)").Save(folder.File("d.json"));
  folder.Put("notes.txt", "no model");
  std::vector<std::string> pipelines;
  for (const Model& model : LoadModels(folder.path())) pipelines.push_back(model.pipeline());
  // Those of one method by the names of their files.
  EXPECT_EQ(pipelines, (std::vector<std::string>{"none(z)", "ts(p)", "ts(z)", "vs(z)"}));
  EXPECT_EQ(LoadModels(folder.File("a.json")).at(0).pipeline(), "vs(z)");
}

TEST(LoadModels, NamesAFolderWithoutModelsAndAFileThatIsMissing) {
  const TempFolder folder;
  ExpectError(
      ErrorCode::kInvalidArgument, {folder.path(), "no .json"}, [&] { LoadModels(folder.path()); });
  ExpectError(ErrorCode::kIo, {"gone.json"}, [&] { LoadModels(folder.File("gone.json")); });
}

TEST(IsModelFile, TellsModelsFromOtherFiles) {
  const TempFolder folder;
  const auto scene = RandomScene({.num_classes = 3});
  Baseline(scene.dataset, "none(z)").Save(folder.File("model.json"));
  EXPECT_TRUE(IsModelFile(folder.File("model.json")));
  EXPECT_FALSE(IsModelFile(folder.Put("dataset.json", R"({"segcal_dataset": 1})")));
  EXPECT_FALSE(IsModelFile(folder.Put("list.json", "[]")));
  EXPECT_FALSE(IsModelFile(folder.path()));
  ExpectError(ErrorCode::kBadData, {"broken"}, [&] { IsModelFile(folder.Put("broken", "{")); });
  ExpectError(ErrorCode::kIo, {"gone"}, [&] { IsModelFile(folder.File("gone")); });
}

TEST(Model, SaysItsParametersAndItsTemperature) {
  const auto scene = RandomScene({.num_classes = 3});
  const Model temperature = testing::TemperatureModel(scene.dataset, 0.25);
  EXPECT_EQ(temperature.inverse_temperature(), 0.25);
  EXPECT_EQ(temperature.parameter_counts().identifiable, 1);
  const Model matrix = FitAs("ms(z)", scene);
  EXPECT_EQ(matrix.inverse_temperature(), std::nullopt);
  EXPECT_EQ(matrix.parameter_counts().optimised, 3 * 3 + 3);
}

}  // namespace
}  // namespace segcal
