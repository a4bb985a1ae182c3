// SPDX-License-Identifier: Apache-2.0
#include "formats/composed.h"

#include "formats/files_for_test.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

using testing::ExpectError;

const ArrayInfo kBatch{.dtype = DType::kF32, .shape = {3, 2, 4}, .spacing = {}};

std::vector<float> Items(int64_t first, int64_t count) {
  const std::vector<float> all = Counting<float>(first + count);
  return {all.begin() + first, all.end()};
}

TEST(ItemOf, IsAPartOfAFileWhereverItIsRead) {
  const TempFolder folder;
  const std::vector<float> values = Counting<float>(24);
  WriteOptions deflated;
  deflated.compress = true;
  SaveArray(folder.File("a.npy"), kBatch, values.data());
  SaveArray(folder.File("a.npz"), kBatch, values.data(), deflated);
  for (const char* name : {"a.npy", "a.npz"}) {
    const auto item = ItemOf(OpenArray(folder.File(name)), 2);
    EXPECT_EQ(item->info().shape, (std::vector<int64_t>{2, 4}));
    EXPECT_EQ(ReadAll<float>(*item), Items(16, 8));
    EXPECT_TRUE(item->name().ends_with("[2]")) << item->name();
    std::vector<float> two(2);
    item->Read(3, 2, two.data());
    EXPECT_EQ(two, Items(19, 2));
  }
}

TEST(ItemOf, KeepsTheLayoutOfMemory) {
  const std::vector<float> values = Counting<float>(24);
  const auto item = ItemOf(ArrayOverMemory("m", kBatch, values.data(), {1, 3, 6}), 1);
  const MemoryLayout layout = item->layout();
  EXPECT_EQ(layout.data, values.data() + 1);
  EXPECT_EQ(layout.strides, (std::vector<int64_t>{3, 6}));
  EXPECT_EQ(ReadAll<float>(*item), (std::vector<float>{1, 7, 13, 19, 4, 10, 16, 22}));
  const auto dense = ItemOf(ArrayOverMemory("m", kBatch, values.data()), 1);
  EXPECT_EQ(dense->Direct(2), values.data() + 10);
}

TEST(ItemOf, RefusesItemsThatAreNotThere) {
  const std::vector<float> values = Counting<float>(24);
  for (const int64_t item : {int64_t{-1}, int64_t{3}}) {
    ExpectError(ErrorCode::kBadData, {"m", std::to_string(item), "(3, 2, 4)"}, [&] {
      ItemOf(ArrayOverMemory("m", kBatch, values.data()), item);
    });
  }
  const ArrayInfo line{.dtype = DType::kF32, .shape = {24}, .spacing = {}};
  ExpectError(ErrorCode::kBadData, {"first axis"}, [&] {
    ItemOf(ArrayOverMemory("m", line, values.data()), 0);
  });
}

std::vector<std::unique_ptr<Array>> Parts(const std::vector<float>& values, const ArrayInfo& last) {
  const ArrayInfo info{.dtype = DType::kF32, .shape = {2, 4}, .spacing = {2, 1}};
  std::vector<std::unique_ptr<Array>> parts;
  parts.push_back(ArrayOverMemory("first", info, values.data()));
  parts.push_back(ArrayOverMemory("last", last, values.data() + 8));
  return parts;
}

TEST(Stacked, ReadsAcrossItsParts) {
  const std::vector<float> values = Counting<float>(16);
  const ArrayInfo info{.dtype = DType::kF32, .shape = {2, 4}, .spacing = {2, 1}};
  const auto stacked = Stacked(Parts(values, info));
  EXPECT_EQ(stacked->info().shape, (std::vector<int64_t>{2, 2, 4}));
  EXPECT_EQ(stacked->info().spacing, info.spacing);
  EXPECT_EQ(stacked->name(), "first");
  EXPECT_EQ(ReadAll<float>(*stacked), values);
  std::vector<float> some(4);
  stacked->Read(6, 4, some.data());
  EXPECT_EQ(some, Items(6, 4));
}

TEST(Stacked, RefusesPartsThatDiffer) {
  const std::vector<float> values = Counting<float>(16);
  for (const ArrayInfo& other : {ArrayInfo{.dtype = DType::kF32, .shape = {4, 2}, .spacing = {}},
                                 ArrayInfo{.dtype = DType::kF16, .shape = {2, 4}, .spacing = {}}}) {
    ExpectError(
        ErrorCode::kBadData, {"last", "first", "alike"}, [&] { Stacked(Parts(values, other)); });
  }
}

}  // namespace
}  // namespace segcal
