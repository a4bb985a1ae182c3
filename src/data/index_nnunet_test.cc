// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "data/nnunet.h"
#include "formats/array.h"
#include "segcal/index.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::TempFolder;
using Names = std::vector<std::string>;

constexpr const char* kLabelsJson =
    R"({"channel_names": {"0": "T1"}, "labels": {"background": 0, "x": 1, "ignore": 2},
        "file_ending": ".nii.gz"})";

// Folders as nnU-Net lays them out, with two classes and volumes of 1 x 2 x 3.
class NnunetTest : public ::testing::Test {
 protected:
  NnunetTest() {
    folder_.Put(model_ + "/dataset.json", kLabelsJson);
    folder_.Put(model_ + "/plans.json",
                R"({"dataset_name": "Dataset1", "image_reader_writer": "SimpleITKIO"})");
  }

  void PutPrediction(const std::string& folder, const std::string& id) {
    folder_.Put(folder + "/" + id + ".pkl", "");
    PutLabels(folder, id);
    const std::vector<float> halves(2 * 6, 0.5F);
    SaveArray(folder_.File(folder + "/" + id + ".npz"),
              {.dtype = DType::kF32, .shape = {2, 1, 2, 3}, .spacing = {}},
              halves.data());
  }
  void PutLabels(const std::string& folder, const std::string& id) {
    folder_.Put(folder + "/" + id + ".nii.gz", "");
    const std::vector<uint8_t> labels(6, 1);
    SaveArray(folder_.File(folder + "/" + id + ".nii.gz"),
              {.dtype = DType::kU8, .shape = {1, 2, 3}, .spacing = {3, 2, 1}},
              labels.data());
  }
  // Three cases in two folds, and a label map for each.
  void PutModel() {
    PutPrediction(model_ + "/fold_0/validation", "a");
    PutPrediction(model_ + "/fold_0/validation", "c");
    PutPrediction(model_ + "/fold_1/validation", "b");
    for (const char* id : {"a", "b", "c", "d"}) PutLabels("nnUNet_raw/Dataset1/labelsTr", id);
  }
  IndexResult Run(const Names& folders) {
    options_.nnunet_folders.clear();
    for (const std::string& folder : folders)
      options_.nnunet_folders.push_back(folder_.File(folder));
    return Index(folder_.File("data.json"), options_);
  }
  void ExpectRefused(ErrorCode code, const Names& parts, const Names& folders) {
    ExpectError(code, parts, [&] { Run(folders); });
  }

  TempFolder folder_;
  std::string model_ = "nnUNet_results/Dataset1/Trainer__Plans__3d";
  IndexOptions options_;
};

TEST_F(NnunetTest, TakesEveryCaseOfATrainedModelFromItsFold) {
  PutModel();
  const IndexResult result = Run({model_});
  const Dataset& dataset = result.dataset;
  EXPECT_EQ(dataset.classes, (Names{"background", "x"}));
  EXPECT_EQ(dataset.ignore_label, 2);
  EXPECT_EQ(dataset.background, 0);
  EXPECT_EQ(dataset.input, InputKind::kProbs);
  ASSERT_EQ(dataset.cases.size(), 3u);
  const Case& b = dataset.cases[1];
  EXPECT_EQ(b.id, "b");
  ASSERT_EQ(b.members.size(), 1u);
  EXPECT_EQ(b.members[0].path(), model_ + "/fold_1/validation/b.npz");
  EXPECT_EQ(b.labels.path(), "nnUNet_raw/Dataset1/labelsTr/b.nii.gz");
  EXPECT_EQ(b.group, "");
  EXPECT_NE(result.notes.at(0).find("3 cases out of fold"), std::string::npos);
}

TEST_F(NnunetTest, GivesTheSameForAModelItsFoldsAndTheirValidationFolders) {
  PutModel();
  const auto members = [&](const Names& folders) {
    Names paths;
    for (const Case& c : Run(folders).dataset.cases) paths.push_back(c.members.at(0).path());
    return paths;
  };
  const Names expected = members({model_ + "/"});
  EXPECT_EQ(members({model_ + "/fold_0", model_ + "/fold_1"}), expected);
  EXPECT_EQ(members({model_ + "/fold_0/validation", model_ + "/fold_1/validation/"}), expected);
}

TEST_F(NnunetTest, MakesMembersOfFoldersWithTheSameCases) {
  for (const char* folder : {"p/fold_0", "p/fold_1"}) {
    for (const char* id : {"a", "b"}) PutPrediction(folder, id);
  }
  options_.nnunet = folder_.File(model_ + "/dataset.json");
  const IndexResult result = Run({"p/fold_0", "p/fold_1"});
  ASSERT_EQ(result.dataset.cases.size(), 2u);
  ASSERT_EQ(result.dataset.cases[0].members.size(), 2u);
  EXPECT_EQ(result.dataset.cases[0].members[1].path(), "p/fold_1/a.npz");
  EXPECT_TRUE(result.dataset.cases[0].labels.empty());
  options_.patterns.labels = folder_.File("p/fold_0");  // a folder
  EXPECT_EQ(Run({"p/fold_1"}).dataset.cases[1].labels.path(), "p/fold_0/b.nii.gz");
}

TEST_F(NnunetTest, MakesMembersOfSeveralModels) {
  PutModel();
  const std::string other = "nnUNet_results/Dataset1/Trainer__Plans__2d";
  for (const char* id : {"a", "b", "c"}) PutPrediction(other + "/fold_3/validation", id);
  const Dataset dataset = Run({model_, other}).dataset;
  ASSERT_EQ(dataset.cases.at(2).members.size(), 2u);
  EXPECT_EQ(dataset.cases[2].members[1].path(), other + "/fold_3/validation/c.npz");
}

TEST_F(NnunetTest, GroupsCasesByFoldWhenAsked) {
  PutModel();
  options_.group_by_fold = true;
  const Dataset dataset = Run({model_}).dataset;
  EXPECT_EQ(dataset.cases[0].group, "fold_0");
  EXPECT_EQ(dataset.cases[1].group, "fold_1");
}

TEST_F(NnunetTest, TakesImagesThatAreThereForAll) {
  PutModel();
  for (const char* id : {"a_0000", "b_0000"}) PutLabels("nnUNet_raw/Dataset1/imagesTr", id);
  EXPECT_TRUE(Run({model_}).dataset.cases[0].image.empty());
  PutLabels("nnUNet_raw/Dataset1/imagesTr", "c_0000");
  EXPECT_EQ(Run({model_}).dataset.cases[0].image.path(),
            "nnUNet_raw/Dataset1/imagesTr/a_0000.nii.gz");
}

TEST_F(NnunetTest, LeavesOutTheFoldThatSawAllCases) {
  PutModel();
  for (const char* id : {"a", "b", "c"}) PutPrediction(model_ + "/fold_all/validation", id);
  const IndexResult result = Run({model_});
  EXPECT_EQ(result.dataset.cases.size(), 3u);
  EXPECT_NE(result.notes.at(1).find("fold_all is left out"), std::string::npos);
  const Names parts = {"fold_all", "trained on all cases"};
  ExpectRefused(ErrorCode::kBadData, parts, {model_ + "/fold_all"});
  ExpectRefused(ErrorCode::kBadData, parts, {model_ + "/fold_all/validation"});
}

TEST_F(NnunetTest, RefusesACaseInTwoFolds) {
  PutModel();
  PutPrediction(model_ + "/fold_1/validation", "a");
  ExpectRefused(ErrorCode::kBadData, {"\"a\"", "two folds", "fold_0", "fold_1"}, {model_});
}

TEST_F(NnunetTest, SaysHowToGetProbabilitiesThatAreNotThere) {
  PutModel();
  PutLabels(model_ + "/fold_1/validation", "e");
  ExpectRefused(
      ErrorCode::kBadData,
      {"fold_1/validation", "1 of 2 cases", "first e", "nnUNetv2_train ... 1 --val --npz"},
      {model_});
  options_.allow_missing = true;
  EXPECT_EQ(Run({model_}).dataset.cases.size(), 3u);
  PutLabels("p", "a");
  ExpectRefused(ErrorCode::kBadData, {"--save_probabilities"}, {"p"});
}

TEST_F(NnunetTest, RefusesFoldersThatAreNeither) {
  PutModel();
  options_.nnunet = folder_.File(model_ + "/dataset.json");
  ExpectRefused(ErrorCode::kIo, {"nothing", "not a folder"}, {"nothing"});
  PutPrediction("p/one", "a");
  ExpectRefused(ErrorCode::kBadData, {"give them instead", "p/one"}, {"p"});
  ExpectRefused(ErrorCode::kInvalidArgument, {"p/one", "twice"}, {"p/one", "p/./one/"});
  PutPrediction("p/two", "b");
  ExpectRefused(ErrorCode::kIo, {"case \"a\"", "p/two"}, {"p/one", "p/two"});
  options_.patterns.labels = folder_.File("p/two");
  ExpectRefused(ErrorCode::kIo, {"case \"a\"", "p/two"}, {"p/one"});
}

TEST_F(NnunetTest, SaysWhereItLookedForLabelsAndDescription) {
  PutPrediction(model_ + "/fold_0/validation", "a");
  ExpectRefused(
      ErrorCode::kIo, {"nnUNet_raw/Dataset1/labelsTr", "gt_segmentations", "--labels"}, {model_});
  PutLabels("nnUNet_preprocessed/Dataset1/gt_segmentations", "a");
  EXPECT_EQ(Run({model_}).dataset.cases[0].labels.path(),
            "nnUNet_preprocessed/Dataset1/gt_segmentations/a.nii.gz");
  PutPrediction("elsewhere/p", "a");
  ExpectRefused(ErrorCode::kIo, {"elsewhere/p", "dataset.json"}, {"elsewhere/p"});
}

// A file of segcal has the same name, but is not nnU-Net's.
TEST_F(NnunetTest, LooksPastADataSetFileOfOurs) {
  PutModel();
  folder_.Put(model_ + "/fold_0/dataset.json", R"({"segcal_dataset": 1, "labels": {}})");
  EXPECT_EQ(Run({model_}).dataset.classes.size(), 2u);
}

// Without qform and sform codes of RAS order, probabilities turned to it do not fit the labels.
TEST_F(NnunetTest, RefusesLabelsInAnotherOrderThanReorientedProbabilities) {
  PutModel();
  folder_.Put(model_ + "/plans.json",
              R"({"dataset_name": "Dataset1", "image_reader_writer": "NibabelIOWithReorient"})");
  EXPECT_EQ(Run({model_}).dataset.cases.size(), 3u);
  const std::string path = folder_.File("nnUNet_raw/Dataset1/labelsTr/b.nii");
  const std::vector<uint8_t> labels(6, 1);
  SaveArray(path, {.dtype = DType::kU8, .shape = {1, 2, 3}, .spacing = {3, 2, 1}}, labels.data());
  std::string bytes = folder_.Get("nnUNet_raw/Dataset1/labelsTr/b.nii");
  bytes[283] = static_cast<char>(bytes[283] ^ 0x80);  // the sign of the affine map's first number
  folder_.Put("nnUNet_raw/Dataset1/labelsTr/b.nii.gz", bytes);
  ExpectRefused(ErrorCode::kUnsupported, {"b.nii.gz", "NibabelIOWithReorient"}, {model_});
}

}  // namespace
}  // namespace segcal
