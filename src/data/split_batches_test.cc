// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "formats/array.h"
#include "segcal/index.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::TempFolder;
using Sources = std::vector<ArraySource>;

// Batches (N, 2, 1, 3) of logits and (N, 1, 3) of labels.
class BatchTest : public ::testing::Test {
 protected:
  void Put(const std::string& name, int64_t items) {
    const std::vector<float> logits(static_cast<size_t>(items * 6));
    const std::vector<uint8_t> labels(static_cast<size_t>(items * 3));
    SaveArray(folder_.File(name + "_z.npy"),
              {.dtype = DType::kF32, .shape = {items, 2, 1, 3}, .spacing = {}},
              logits.data());
    SaveArray(folder_.File(name + "_y.npy"),
              {.dtype = DType::kU8, .shape = {items, 1, 3}, .spacing = {}},
              labels.data());
  }
  Dataset Run(const std::string& name) {
    options_.input = InputKind::kLogits;
    options_.batch = true;
    options_.patterns.members = {folder_.File(name + "_z.npy")};
    options_.patterns.labels = folder_.File(name + "_y.npy");
    return Index(folder_.File("data.json"), options_).dataset;
  }

  TempFolder folder_;
  IndexOptions options_;
};

TEST_F(BatchTest, MakesACaseOfEveryItem) {
  Put("b0", 2);
  Put("b1", 1);
  const Dataset dataset = Run("{case}");
  ASSERT_EQ(dataset.cases.size(), 3u);
  EXPECT_EQ(dataset.cases[1].id, "b0_1");
  EXPECT_EQ(dataset.cases[1].members, (Sources{ArraySource::Item("b0_z.npy", 1)}));
  EXPECT_EQ(dataset.cases[1].labels, ArraySource::Item("b0_y.npy", 1));
  EXPECT_EQ(dataset.cases[2].id, "b1_0");
  EXPECT_EQ(dataset.classes.size(), 2u);
  SaveDataset(folder_.File("data.json"), dataset);
  EXPECT_EQ(LoadDataset(folder_.File("data.json")).cases[1].members, dataset.cases[1].members);
}

TEST_F(BatchTest, NumbersTheItemsOfASingleFile) {
  Put("all", 3);
  const Dataset dataset = Run("all");
  ASSERT_EQ(dataset.cases.size(), 3u);
  EXPECT_EQ(dataset.cases[2].id, "2");
  EXPECT_EQ(dataset.cases[2].members, (Sources{ArraySource::Item("all_z.npy", 2)}));
}

TEST_F(BatchTest, RefusesFilesWithOtherNumbersOfItems) {
  Put("b", 2);
  const std::vector<uint8_t> labels(9);
  SaveArray(folder_.File("b_y.npy"),
            {.dtype = DType::kU8, .shape = {3, 1, 3}, .spacing = {}},
            labels.data());
  ExpectError(ErrorCode::kBadData, {"b_y.npy", "3 items", "b_z.npy has 2"}, [&] { Run("{case}"); });
  options_.nnunet_folders = {"x"};
  ExpectError(ErrorCode::kInvalidArgument, {"batches"}, [&] { Run("{case}"); });
}

}  // namespace
}  // namespace segcal
