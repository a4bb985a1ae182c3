// SPDX-License-Identifier: Apache-2.0
#include "segcal/index.h"

#include <gtest/gtest.h>

#include "formats/array.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::TempFolder;

// Two cases of three channels with labels.
class IndexTest : public ::testing::Test {
 protected:
  IndexTest() {
    const std::vector<float> logits(3 * 2 * 4);
    const std::vector<uint8_t> labels(2 * 4, 1);
    folder_.Put("set/other", "");
    for (const char* id : {"a", "b"}) {
      folder_.Put(std::string("gt/") + id + ".npy", "");
      folder_.Put(std::string("p/") + id + ".npy", "");
      SaveArray(folder_.File(std::string("p/") + id + ".npy"),
                {.dtype = DType::kF32, .shape = {3, 2, 4}, .spacing = {}},
                logits.data());
      SaveArray(folder_.File(std::string("gt/") + id + ".npy"),
                {.dtype = DType::kU8, .shape = {2, 4}, .spacing = {}},
                labels.data());
    }
    options_.patterns.members = {folder_.File("p/{case}.npy")};
    options_.patterns.labels = folder_.File("gt/{case}.npy");
    options_.input = InputKind::kLogits;
  }

  IndexResult Run() const { return Index(folder_.File("set/data.json"), options_); }

  TempFolder folder_;
  IndexOptions options_;
};

TEST_F(IndexTest, GivesADataSetThatReadsBackAfterSaving) {
  options_.classes = {"x", "y", "z"};
  options_.name = "mine";
  const IndexResult result = Run();
  EXPECT_FALSE(std::filesystem::exists(result.file));
  SaveDataset(result.file, result.dataset);
  const Dataset read = LoadDataset(result.file);
  EXPECT_EQ(read.name, "mine");
  EXPECT_EQ(read.classes, options_.classes);
  ASSERT_EQ(read.cases.size(), 2u);
  EXPECT_EQ(read.cases[1].id, "b");
  EXPECT_EQ(read.cases[1].labels.path(), "../gt/b.npy");
}

TEST_F(IndexTest, IsNamedAfterItsFolder) { EXPECT_EQ(Run().dataset.name, "set"); }

TEST_F(IndexTest, NumbersClassesByTheFirstPredictionAndSaysSo) {
  const IndexResult result = Run();
  EXPECT_EQ(result.dataset.classes, (std::vector<std::string>{"class_0", "class_1", "class_2"}));
  EXPECT_NE(result.numbered_by.find("p/a.npy"), std::string::npos) << result.numbered_by;
  options_.classes = {"x", "y", "z"};
  EXPECT_EQ(Run().numbered_by, "");
}

TEST_F(IndexTest, TakesLabelsOfNnunetUnlessGivenOthers) {
  options_.nnunet =
      folder_.Put("nn.json", R"({"labels": {"background": 0, "a": 1, "b": 2, "ignore": 3}})");
  IndexResult result = Run();
  EXPECT_EQ(result.dataset.classes, (std::vector<std::string>{"background", "a", "b"}));
  EXPECT_EQ(result.dataset.ignore_label, 3);
  EXPECT_EQ(result.dataset.background, 0);
  options_.ignore_label = 9;
  options_.background = 2;
  result = Run();
  EXPECT_EQ(result.dataset.ignore_label, 9);
  EXPECT_EQ(result.dataset.background, 2);
}

TEST_F(IndexTest, IgnoresWhatALabelMapSendsTo255) {
  options_.label_map = folder_.Put("map.json", R"({"0": 255, "1": 2})");
  EXPECT_EQ(Run().dataset.ignore_label, 255);
  EXPECT_EQ(Run().dataset.label_map.at(1), 2);
  options_.ignore_label = 7;
  options_.label_map = folder_.Put("map.json", R"({"0": 7, "1": 2})");
  EXPECT_EQ(Run().dataset.ignore_label, 7);
}

TEST_F(IndexTest, AssignsSplits) {
  options_.splits = {{"calibration", 1.0}, {"test", 1.0}};
  const Dataset dataset = Run().dataset;
  EXPECT_NE(dataset.cases[0].split, dataset.cases[1].split);
}

TEST_F(IndexTest, NeedsToBeToldWhatThePredictionsAre) {
  options_.input = std::nullopt;
  ExpectError(
      ErrorCode::kInvalidArgument, {"data.json", "\"input\" is not stated"}, [&] { Run(); });
}

TEST_F(IndexTest, OpensTheFirstCase) {
  options_.classes = {"x", "y"};
  ExpectError(ErrorCode::kBadData, {"a.npy", "3", "2 classes"}, [&] { Run(); });
}

TEST_F(IndexTest, IsSummedUpAsJson) {
  options_.classes = {"x", "y", "z"};
  IndexResult result = Run();
  result.file = "data.json";
  EXPECT_EQ(ToJson(result),
            "{\n  \"file\": \"data.json\",\n  \"cases\": 2,\n  \"members\": 1,\n"
            "  \"classes\": [\"x\", \"y\", \"z\"],\n  \"notes\": []\n}\n");
}

}  // namespace
}  // namespace segcal
