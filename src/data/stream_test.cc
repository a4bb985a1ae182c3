// SPDX-License-Identifier: Apache-2.0
#include "data/stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "core/progress.h"
#include "data/array_source.h"
#include "formats/array.h"
#include "tests/support/errors.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::RandomScene;
using testing::Scene;
using testing::TempFolder;
using testing::WriteScene;

// One class keeps odd and large sizes cheap.
Scene OneClass(int64_t num_cases, int64_t num_voxels) {
  return RandomScene({.num_cases = num_cases, .num_classes = 1, .shape = {num_voxels}});
}

const std::vector<Pooling> kMeanLogits = {Pooling{}};

StreamOptions Threads(int threads) {
  StreamOptions options;
  options.threads = threads;
  return options;
}

class EveryVoxelOnce : public ::testing::TestWithParam<int> {};

TEST_P(EveryVoxelOnce, ForOddSizes) {
  for (const int64_t voxels :
       {int64_t{1}, kTileVoxels - 1, kBlockVoxels, kBlockVoxels + 1, 3 * kBlockVoxels + 77}) {
    const Scene scene = OneClass(3, voxels);
    std::vector<std::vector<std::atomic<int>>> visits(3);
    for (auto& v : visits) v = std::vector<std::atomic<int>>(static_cast<size_t>(voxels));
    const auto stream = scene.Stream(GetParam());
    stream->ForEachBlock("test", [&](VoxelBlock& block, int64_t c, int worker) {
      EXPECT_GE(worker, 0);
      EXPECT_LT(worker, stream->num_workers());
      EXPECT_EQ(block.first() % kBlockVoxels, 0);
      for (int64_t v = 0; v < block.count(); ++v) {
        ++visits[static_cast<size_t>(c)][static_cast<size_t>(block.first() + v)];
      }
    });
    for (const auto& of_case : visits) {
      EXPECT_TRUE(std::all_of(of_case.begin(), of_case.end(), [](const auto& n) { return n == 1; }))
          << voxels;
    }
  }
}

TEST_P(EveryVoxelOnce, ThenTheEndOfTheCaseOnce) {
  const int64_t voxels = 2 * kBlockVoxels + 5;
  const Scene scene = OneClass(7, voxels);
  std::vector<std::atomic<int64_t>> seen(7);
  std::vector<std::atomic<int>> ends(7);
  scene.Stream(GetParam())
      ->ForEachBlock(
          "test",
          [&](VoxelBlock& block, int64_t c, int) {
            EXPECT_EQ(ends[static_cast<size_t>(c)], 0) << "a block after the end of its case";
            seen[static_cast<size_t>(c)] += block.count();
          },
          [&](int64_t c, const CaseReader& reader) {
            EXPECT_EQ(reader.id(), "case" + std::to_string(c));
            EXPECT_EQ(seen[static_cast<size_t>(c)], voxels);
            ++ends[static_cast<size_t>(c)];
          });
  for (const auto& count : ends) EXPECT_EQ(count, 1);
}

INSTANTIATE_TEST_SUITE_P(CaseStream, EveryVoxelOnce, ::testing::Values(1, 2, 3, 8));

// The most cases that were between their first block and their end at the same time. Blocks wait
// until `expected` are, and a little longer for one too many.
size_t MostInFlight(const Scene& scene, int64_t bytes_per_voxel, size_t expected) {
  StreamOptions options = Threads(3);
  options.memory = 1 << 20;
  options.bytes_per_voxel = bytes_per_voxel;
  const TempFolder folder;
  const CaseStream stream(WriteScene(scene, folder.path()), kMeanLogits, options);
  std::mutex mutex;
  std::condition_variable changed;
  std::set<int64_t> in_flight;
  size_t most = 0;
  const auto on_block = [&](VoxelBlock&, int64_t c, int) {
    std::unique_lock lock(mutex);
    in_flight.insert(c);
    most = std::max(most, in_flight.size());
    changed.notify_all();
    changed.wait_for(lock, std::chrono::seconds(5), [&] { return most >= expected; });
    changed.wait_for(lock, std::chrono::milliseconds(10), [&] { return most > expected; });
  };
  stream.ForEachBlock("test", on_block, [&](int64_t c, const CaseReader&) {
    const std::lock_guard lock(mutex);
    in_flight.erase(c);
  });
  EXPECT_TRUE(in_flight.empty());
  return most;
}

TEST(CaseStream, HoldsCasesBackWhereVisitorsKeepMuchOfEach) {
  const int64_t voxels = 1000;
  const Scene scene = OneClass(6, voxels);
  const int64_t half = (1 << 20) / 2;
  EXPECT_EQ(MostInFlight(scene, 2 * half, 1), 1u) << "one must be open, whatever it takes";
  EXPECT_EQ(MostInFlight(scene, half / voxels / 2 + 1, 1), 1u);
  EXPECT_EQ(MostInFlight(scene, half / voxels / 2, 2), 2u);
  EXPECT_EQ(MostInFlight(scene, 0, 3), 3u);
}

TEST(CaseStream, PassesOnTheExceptionOfABlock) {
  const Scene scene = OneClass(5, 3 * kBlockVoxels);
  for (const int threads : {1, 3}) {
    ExpectError(ErrorCode::kBadData, {"stop here"}, [&] {
      scene.Stream(threads)->ForEachBlock("test", [](VoxelBlock& block, int64_t c, int) {
        if (c == 2 && block.first() > 0) throw Error(ErrorCode::kBadData, "stop here");
      });
    });
    ExpectError(ErrorCode::kIo, {"at the end"}, [&] {
      scene.Stream(threads)->ForEachBlock(
          "test",
          [](VoxelBlock&, int64_t, int) {},
          [](int64_t, const CaseReader&) { throw Error(ErrorCode::kIo, "at the end"); });
    });
  }
}

TEST(CaseStream, PassesOnTheExceptionOfACaseThatCannotBeOpened) {
  const TempFolder folder;
  Dataset dataset = WriteScene(RandomScene({.num_cases = 4, .shape = {9, 9}}), folder.path());
  dataset.cases[2].members[0] = "absent.npy";
  for (const int threads : {1, 2, 5}) {
    const CaseStream stream(dataset, kMeanLogits, Threads(threads));
    ExpectError(ErrorCode::kIo, {"absent.npy"}, [&] {
      stream.ForEachBlock("test", [](VoxelBlock&, int64_t, int) {});
    });
  }
}

TEST(CaseStream, EndsAtOnceWithoutCases) {
  Dataset dataset;
  dataset.classes = {"a"};
  dataset.input = InputKind::kLogits;
  const CaseStream stream(dataset, kMeanLogits, Threads(2));
  stream.ForEachBlock("test",
                      [](VoxelBlock&, int64_t, int) { ADD_FAILURE() << "a block of nothing"; });
}

TEST(CaseStream, OpensOnlyTheMembersThePoolingsTake) {
  const TempFolder folder;
  Dataset dataset =
      WriteScene(RandomScene({.num_cases = 2, .num_members = 3, .shape = {5, 5}}), folder.path());
  for (Case& c : dataset.cases) c.members[1] = "absent.npy";
  const CaseStream stream(dataset, {ParsePooling("z0"), ParsePooling("z2")}, Threads(1));
  EXPECT_EQ(stream.Open(0)->member(1), nullptr);
  EXPECT_NE(stream.Open(0)->member(2), nullptr);
  ExpectError(ErrorCode::kInvalidArgument, {"z3", "members 0 to 2"}, [&] {
    CaseStream(dataset, {ParsePooling("z3")}, {});
  });
}

TEST(CaseStream, PartHasTheChosenCasesAndMembersAndIsQuiet) {
  const TempFolder folder;
  Dataset dataset =
      WriteScene(RandomScene({.num_cases = 4, .num_members = 2, .shape = {5, 5}}), folder.path());
  for (Case& c : dataset.cases) c.members[0] = "absent.npy";
  const ProgressScope scope(
      ListenOnly([](const Progress& progress) { EXPECT_EQ(progress.stage, ""); }));
  const CaseStream stream(dataset, {ParsePooling("z1")}, Threads(2));
  const auto part = stream.Part({3, 1});
  ASSERT_EQ(part->num_cases(), 2);
  EXPECT_EQ(part->Open(0)->id(), dataset.cases[3].id);
  EXPECT_EQ(part->Open(1)->id(), dataset.cases[1].id);
  std::atomic<int64_t> voxels = 0;
  part->ForEachBlock("test", [&](VoxelBlock& block, int64_t, int) { voxels += block.count(); });
  EXPECT_EQ(voxels, 50);
}

// So any number of them needs the memory of one.
TEST(CaseStream, SubsetsKeepTheSameCasesOpen) {
  const TempFolder folder;
  const Dataset dataset = WriteScene(RandomScene({.num_cases = 4, .shape = {9, 9}}), folder.path());
  const CaseStream stream(dataset, kMeanLogits, Threads(1));
  const auto some = stream.Subset({3, 1});
  const auto fewer = some->Subset({1});
  EXPECT_EQ(some->Open(0), stream.Open(3));
  EXPECT_EQ(fewer->Open(0), stream.Open(1));
  EXPECT_EQ(fewer->Open(0)->id(), dataset.cases[1].id);
  EXPECT_EQ(stream.Part({2})->Open(0), stream.Open(2));
}

// Opening again would decode again.
TEST(CaseStream, KeepsCasesOpenBetweenPassesWithinItsMemory) {
  const TempFolder folder;
  const Dataset dataset = WriteScene(RandomScene({.num_cases = 2, .shape = {9, 9}}), folder.path());
  const CaseStream roomy(dataset, kMeanLogits, Threads(1));
  EXPECT_EQ(roomy.Open(0), roomy.Open(0));
  EXPECT_NE(roomy.Open(0), roomy.Open(1));
}

TEST(CaseStream, SharesItsMemoryAmongPassesAtTheSameTime) {
  const Scene scene = OneClass(3, 9);
  const auto stream = scene.Stream(1);
  const int64_t all = stream->memory();
  const auto subset = stream->Subset({0, 2});
  const auto part = subset->Part({1});
  stream->ShareMemory(4);
  EXPECT_EQ(stream->memory(), all / 4);
  EXPECT_EQ(subset->memory(), all / 4);
  EXPECT_EQ(part->memory(), all / 8);
  stream->ShareMemory(1);
  EXPECT_EQ(part->memory(), all / 2);
}

TEST(CaseStream, GivesTheSameBlocksOnEveryPass) {
  const TempFolder folder;
  const Dataset dataset =
      WriteScene(RandomScene({.num_cases = 3, .shape = {91, 100}}), folder.path());
  const CaseStream stream(dataset, kMeanLogits, Threads(2));
  const auto pass = [&] {
    std::mutex mutex;
    std::set<std::pair<int64_t, int64_t>> blocks;
    stream.ForEachBlock("test", [&](VoxelBlock& block, int64_t c, int) {
      const std::lock_guard lock(mutex);
      blocks.insert({c, block.first()});
    });
    return blocks;
  };
  const auto first = pass();
  EXPECT_EQ(first.size(), 6u);
  EXPECT_EQ(pass(), first);
}

TEST(CaseStream, ReportsProgressUpToTheEnd) {
  const TempFolder folder;
  const Dataset dataset =
      WriteScene(RandomScene({.num_cases = 3, .shape = {91, 100}}), folder.path());
  std::vector<Progress> reports;
  const ProgressScope scope(
      ListenOnly([&](const Progress& progress) { reports.push_back(progress); }));
  const CaseStream stream(dataset, kMeanLogits, Threads(2));
  stream.ForEachBlock("counting", [](VoxelBlock&, int64_t, int) {});
  ASSERT_GE(reports.size(), 2u);
  EXPECT_EQ(reports.front().done, 0);
  for (size_t i = 0; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].stage, "counting");
    EXPECT_LE(reports[i].done, reports[i].total);
    EXPECT_GE(reports[i].done, i == 0 ? 0 : reports[i - 1].done);
  }
  EXPECT_EQ(reports.back().done, 3 * 9100);
  EXPECT_EQ(reports.back().total, 3 * 9100);
}

TEST(WithoutBadCases, LeavesOutAndReportsWhatCannotBeRead) {
  const TempFolder folder;
  Scene scene = RandomScene({.num_cases = 4, .shape = {9, 9}});
  scene.logits[1][0][7] = NAN;
  scene.labels[3][5] = 77;
  Dataset dataset = WriteScene(scene, folder.path());
  dataset.cases[0].members[0] = "absent.npy";
  std::vector<std::string> dropped;
  const Dataset good = WithoutBadCases(dataset, kMeanLogits, Threads(2), &dropped);
  ASSERT_EQ(good.cases.size(), 1u);
  EXPECT_EQ(good.cases[0].id, "case2");
  ASSERT_EQ(dropped.size(), 3u);
  EXPECT_EQ(dropped[0].find("case0: "), 0u) << dropped[0];
  EXPECT_NE(dropped[1].find("voxel (0, 7)"), std::string::npos) << dropped[1];
  EXPECT_NE(dropped[2].find("label 77"), std::string::npos) << dropped[2];
}

// The files are gone after the first pass: what was decoded must be somewhere. All in files, three
// cases in memory, all in memory.
TEST(CaseStream, ReadsDecodedCasesAgainWithoutTheirFiles) {
  const Scene scene = RandomScene({.num_cases = 6, .num_classes = 4, .shape = {60, 50}});
  for (const int64_t memory : {int64_t{20000}, int64_t{600000}, int64_t{1} << 30}) {
    const TempFolder folder;
    Dataset dataset = WriteScene(scene, folder.path());
    for (Case& entry : dataset.cases) {
      const std::string path = FullPath(dataset, entry.members[0]);
      const auto array = OpenArray(path);
      const std::vector<float> values = testing::ReadFloats(path);
      const std::string packed = folder.File(entry.id + ".npz");
      WriteOptions compressed;
      compressed.compress = true;
      SaveArray(packed, array->info(), values.data(), compressed);
      entry.members[0] = packed;
    }
    StreamOptions options = Threads(2);
    options.memory = memory;
    options.keeps_decoded = true;
    const CaseStream stream(dataset, kMeanLogits, options);
    const auto sum = [&] {
      std::mutex mutex;
      std::map<std::pair<int64_t, int64_t>, double> sums;  // by case and block
      stream.ForEachBlock("test", [&](VoxelBlock& block, int64_t c, int) {
        TileBuffer buffer;
        double total = 0.0;
        for (int64_t t = 0; t < block.num_tiles(); ++t) {
          const Tile tile = block.PoolTileInto(t, Pooling{}, &buffer);
          for (int64_t i = 0; i < 4 * kTileVoxels; ++i)
            total += static_cast<double>(tile.logits[i]);
        }
        const std::lock_guard lock(mutex);
        sums[{c, block.first()}] = total;
      });
      return sums;
    };
    const auto first = sum();
    for (const Case& entry : dataset.cases)
      std::filesystem::remove(FullPath(dataset, entry.members[0]));
    EXPECT_EQ(sum(), first) << memory;
  }
}

}  // namespace
}  // namespace segcal
