// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "formats/array.h"
#include "segcal/apply.h"
#include "tests/support/errors.h"
#include "tests/support/models.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::ReadFloats;
using testing::TempFolder;

// Two cases of two classes as nnU-Net leaves them, volumes of 1 x 2 x 3.
class ApplyNnunetTest : public ::testing::Test {
 protected:
  ApplyNnunetTest() {
    folder_.Put("in/dataset.json", R"({"labels": {"background": 0, "x": 1}})");
    folder_.Put("in/plans.json", R"({"dataset_name": "D"})");
    for (const char* id : {"a", "b"}) {
      folder_.Put(File("in", id, ".pkl"), std::string("\x80\x04 never read: ") + id);
      SaveArray(folder_.File(File("in", id, ".npz")),
                {.dtype = DType::kF32, .shape = {2, 1, 2, 3}, .spacing = {}},
                probs_.data());
      const std::vector<uint8_t> labels = {0, 1, 0, 1, 0, 1};
      SaveArray(folder_.File(File("in", id, ".nii.gz")),
                {.dtype = DType::kU8, .shape = {1, 2, 3}, .spacing = {4, 3, 2}},
                labels.data());
    }
  }
  static std::string File(const char* folder, const std::string& id, const char* ending) {
    return std::string(folder) + "/" + id + ending;
  }
  ApplyResult Run(const std::string& out, const NnunetApplyOptions& options = {}) {
    Dataset described;
    described.classes = {"background", "x"};
    described.input = InputKind::kProbs;
    return ApplyNnunet(testing::TemperatureModel(described, 0.5),
                       {folder_.File("in")},
                       folder_.File(out),
                       options);
  }

  std::vector<float> probs_ = {
      0.9F, 0.2F, 0.8F, 0.3F, 0.7F, 0.4F, 0.1F, 0.8F, 0.2F, 0.7F, 0.3F, 0.6F};
  TempFolder folder_;
};

// softmax(log(p) / 2) of (0.9, 0.1) is (3, 1) / 4.
TEST_F(ApplyNnunetTest, WritesWhatNnunetReads) {
  const ApplyResult result = Run("out");
  EXPECT_TRUE(result.warnings.empty());
  EXPECT_EQ(result.files.size(), 8u);
  for (const char* id : {"a", "b"}) {
    const std::string npz = folder_.File(File("out", id, ".npz"));
    EXPECT_EQ(OpenArray(npz, {.key = "probabilities", .cache_dir = {}})->info().shape,
              (std::vector<int64_t>{2, 1, 2, 3}));
    EXPECT_NEAR(ReadFloats(npz)[0], 0.75, 1e-6);
    EXPECT_EQ(folder_.Get(File("out", id, ".pkl")), folder_.Get(File("in", id, ".pkl")));
    const auto labels = OpenArray(folder_.File(File("out", id, ".nii.gz")));
    EXPECT_EQ(labels->info().spacing, (std::vector<double>{4, 3, 2}));
    std::vector<uint8_t> values(6);
    labels->Read(0, 6, values.data());
    EXPECT_EQ(values, (std::vector<uint8_t>{0, 1, 0, 1, 0, 1}));
  }
  EXPECT_EQ(folder_.Get("out/plans.json"), folder_.Get("in/plans.json"));
  EXPECT_EQ(folder_.Get("out/dataset.json"), folder_.Get("in/dataset.json"));
}

TEST_F(ApplyNnunetTest, WritesNeitherIntoItsInputNorAmongOtherFiles) {
  NnunetApplyOptions force;
  force.overwrite = true;
  ExpectError(ErrorCode::kInvalidArgument, {"/in", "is read"}, [&] { Run("in"); });
  ExpectError(ErrorCode::kInvalidArgument, {"choose another"}, [&] { Run("out/../in/", force); });
  folder_.Put("full/x", "");
  ExpectError(ErrorCode::kInvalidArgument, {"full", "not empty"}, [&] { Run("full"); });
  EXPECT_EQ(Run("full", force).files.size(), 8u);
}

TEST_F(ApplyNnunetTest, SaysWhatNnunetWillMiss) {
  for (const char* name : {"in/a.pkl", "in/plans.json", "in/b.nii.gz"})
    std::filesystem::remove(folder_.File(name));
  const ApplyResult result = Run("out");
  ASSERT_EQ(result.warnings.size(), 3u);
  EXPECT_NE(result.warnings[0].find("1 of 2 cases is not known (first b)"), std::string::npos);
  EXPECT_NE(result.warnings[1].find("1 of 2 cases have no .pkl"), std::string::npos);
  EXPECT_NE(result.warnings[2].find("plans.json"), std::string::npos);
}

TEST_F(ApplyNnunetTest, RefusesALabelMapOfAnotherSize) {
  const std::vector<uint8_t> labels(8);
  SaveArray(folder_.File("in/b.nii.gz"),
            {.dtype = DType::kU8, .shape = {1, 2, 4}, .spacing = {1, 1, 1}},
            labels.data());
  ExpectError(
      ErrorCode::kInvalidArgument, {"out/b.nii.gz", "in/b.nii.gz", "4"}, [&] { Run("out"); });
}

}  // namespace
}  // namespace segcal
