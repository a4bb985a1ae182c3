// SPDX-License-Identifier: Apache-2.0
#include "study/unit_store.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "segcal/files.h"
#include "tests/support/errors.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::TempFolder;

TEST(UnitStore, FindsWhatItKept) {
  const TempFolder folder;
  {
    const UnitStore store(folder.path(), false);
    EXPECT_FALSE(store.Find("a"));
    store.Keep("a", {.text = "{\n}\n", .seconds = 1.25});
  }
  const UnitStore store(folder.path(), true);
  ASSERT_TRUE(store.Find("a"));
  EXPECT_EQ(store.Find("a")->text, "{\n}\n");
  EXPECT_EQ(store.Find("a")->seconds, 1.25);
  EXPECT_FALSE(store.Find("b"));
}

TEST(UnitStore, DoesNotTakeOverAStudyUnasked) {
  const TempFolder folder;
  UnitStore(folder.path(), false).Keep("a", {.text = "x"});
  ExpectError(ErrorCode::kInvalidArgument, {folder.path(), "--resume"}, [&] {
    UnitStore(folder.path(), false);
  });
}

TEST(UnitStore, RefusesFilesThatAreNoUnits) {
  const TempFolder folder;
  const UnitStore store(folder.path(), false);
  store.Keep("a", {.text = "x"});
  std::string file;
  for (const auto& entry : std::filesystem::directory_iterator(folder.File("units")))
    file = entry.path().string();
  WriteText(file, "something else\n");
  ExpectError(ErrorCode::kBadData, {file, "not a unit"}, [&] { store.Find("a"); });
  WriteText(file, "segcal unit 1\nanother key\n0\nx");
  EXPECT_FALSE(store.Find("a"));
}

TEST(UnitStore, KeepsNothingWithoutAFolder) {
  const UnitStore store("", false);
  store.Keep("a", {.text = "x"});
  EXPECT_FALSE(store.Find("a"));
  EXPECT_EQ(store.PartFile("a"), "");
}

TEST(DataKey, ChangesWithWhateverDeterminesAResult) {
  const TempFolder folder;
  const testing::Scene scene = testing::RandomScene({.num_cases = 2, .shape = {5, 6}});
  const Dataset dataset = testing::WriteScene(scene, folder.path());
  const std::string key = DataKey(dataset);
  EXPECT_EQ(DataKey(dataset), key);
  const auto differs = [&](const std::function<void(Dataset*)>& change) {
    Dataset other = dataset;
    change(&other);
    EXPECT_NE(DataKey(other), key);
  };
  differs([](Dataset* d) { std::swap(d->cases[0], d->cases[1]); });
  differs([](Dataset* d) { d->cases.pop_back(); });
  differs([](Dataset* d) { d->cases[0].group = "g"; });
  differs([](Dataset* d) { d->cases[0].spacing = {2.0, 1.0}; });
  differs([](Dataset* d) { d->cases[0].mask = "other.png"; });
  differs([](Dataset* d) { d->classes[0] = "x"; });
  differs([](Dataset* d) { d->ignore_label = 77; });
  differs([](Dataset* d) { d->background = 1; });
  differs([](Dataset* d) { d->label_map[3] = 1; });
  // A file that was written anew.
  const auto file = std::filesystem::path(dataset.folder) / dataset.cases[0].members[0].path();
  std::filesystem::last_write_time(
      file, std::filesystem::file_time_type::clock::now() + std::chrono::seconds(7));
  EXPECT_NE(DataKey(dataset), key);
  const Dataset in_memory = scene.InMemory();
  ExpectError(
      ErrorCode::kInvalidArgument, {in_memory.cases[0].id, "memory"}, [&] { DataKey(in_memory); });
}

}  // namespace
}  // namespace segcal
