// SPDX-License-Identifier: Apache-2.0
#include "data/voxel_block.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/errors.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::RandomScene;
using testing::Scene;

// The bytes of every tile of a case: logits, offsets, decisions and labels, padding included.
std::string TileBytes(const CaseReader& reader, const Pooling& pooling) {
  std::string bytes;
  VoxelBlock block;
  TileBuffer buffer;
  const auto append = [&](const auto* values, int64_t count) {
    bytes.append(reinterpret_cast<const char*>(values),
                 static_cast<size_t>(count) * sizeof(*values));
  };
  for (int64_t first = 0; first < reader.num_voxels(); first += kBlockVoxels) {
    block.Read(reader, first, std::min(kBlockVoxels, reader.num_voxels() - first));
    for (int64_t t = 0; t < block.num_tiles(); ++t) {
      const Tile tile = block.PoolTileInto(t, pooling, &buffer);
      append(tile.logits, tile.num_classes * kTileVoxels);
      append(tile.offset, kTileVoxels);
      append(tile.decision, kTileVoxels);
      append(tile.labels, kTileVoxels);
    }
  }
  return bytes;
}

// Scores small enough to be exact in float16.
Scene HalfScene(InputKind input = InputKind::kLogits) {
  Scene scene = RandomScene({.num_cases = 1,
                             .num_members = 2,
                             .num_classes = 4,
                             .shape = {100, 91},
                             .scale = 1.5,
                             .offset = 0.5});
  for (auto& member : scene.logits[0]) {
    for (float& z : member) z = std::fmin(std::fmax(z, -7.0f), 7.0f);
  }
  scene.dataset.input = input;
  if (input != InputKind::kProbs) return scene;
  // Multiples of 1/64 that sum to one.
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (auto& member : scene.logits[0]) {
    for (size_t v = 0; v < n; ++v) {
      int left = 64;
      for (size_t c = 0; c < 4; ++c) {
        const int share =
            c == 3 ? left : static_cast<int>(std::fabs(member[c * n + v]) * 3) % (left + 1);
        member[c * n + v] = static_cast<float>(share) / 64.0f;
        left -= share;
      }
    }
  }
  return scene;
}

// The scene's only case over memory in another type and order; `storage` keeps the memory.
CaseReader InMemory(const Scene& scene,
                    DType dtype,
                    bool last,
                    std::vector<std::vector<std::byte>>* storage) {
  Dataset dataset = scene.dataset;
  dataset.layout = last ? Layout::kChannelsLast : Layout::kChannelsFirst;
  ArrayInfo info{.dtype = dtype, .shape = scene.shape, .spacing = {}};
  info.shape.insert(last ? info.shape.end() : info.shape.begin(), dataset.num_classes());
  std::vector<std::shared_ptr<const Array>> members;
  for (const auto& member : scene.logits[0]) {
    storage->push_back(testing::ConvertTo(
        dtype, last ? testing::ChannelsLast(member, dataset.num_classes()) : member));
    members.push_back(ArrayOverMemory("member", info, storage->back().data()));
  }
  return CaseReader(dataset,
                    dataset.cases[0],
                    std::move(members),
                    ArrayOverMemory("labels",
                                    {.dtype = DType::kI32, .shape = scene.shape, .spacing = {}},
                                    scene.labels[0].data()),
                    nullptr);
}

TEST(VoxelBlock, TilesHaveTheSameBitsForEveryTypeAndLayout) {
  for (const InputKind input : {InputKind::kLogits, InputKind::kProbs}) {
    const Scene scene = HalfScene(input);
    for (const char* pooling : {"z", "p", "z1"}) {
      std::vector<std::vector<std::byte>> storage;
      storage.reserve(100);
      const std::string expected =
          TileBytes(InMemory(scene, DType::kF32, false, &storage), ParsePooling(pooling));
      for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64}) {
        for (const bool last : {false, true}) {
          const CaseReader reader = InMemory(scene, dtype, last, &storage);
          EXPECT_TRUE(TileBytes(reader, ParsePooling(pooling)) == expected)
              << Name(input) << " " << pooling << " " << Name(dtype) << (last ? " last" : " first");
        }
      }
    }
  }
}

TEST(VoxelBlock, TilesHaveTheSameBitsFromFilesAndFromMemory) {
  const Scene scene = HalfScene();
  const testing::TempFolder folder;
  std::vector<std::vector<std::byte>> storage;
  storage.reserve(10);
  const std::string expected = TileBytes(InMemory(scene, DType::kF32, false, &storage), {});
  for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64}) {
    for (const bool last : {false, true}) {
      const Dataset dataset =
          testing::WriteScene(scene, folder.File("f"), {.dtype = dtype, .channels_last = last});
      const CaseReader reader(dataset, dataset.cases[0], {}, {});
      EXPECT_TRUE(TileBytes(reader, {}) == expected) << Name(dtype) << (last ? " last" : " first");
    }
  }
}

// Oracle: the definition, voxel by voxel. One member of float32 multiples of 2^-8 is exact.
TEST(VoxelBlock, TilesHoldGapsToTheLargestLogit) {
  const Scene scene = RandomScene({.num_cases = 1, .num_classes = 3, .shape = {21, 29}});
  std::vector<std::vector<std::byte>> storage;
  const CaseReader reader = InMemory(scene, DType::kF32, false, &storage);
  const auto n = static_cast<size_t>(scene.num_voxels());
  VoxelBlock block;
  TileBuffer buffer;
  block.Read(reader, 0, reader.num_voxels());
  size_t seen = 0;
  for (int64_t t = 0; t < block.num_tiles(); ++t) {
    const Tile tile = block.PoolTileInto(t, {}, &buffer);
    EXPECT_EQ(tile.first_voxel, t * kTileVoxels);
    for (int64_t v = 0; v < tile.count; ++v, ++seen) {
      const float* z = scene.logits[0][0].data() + seen;
      const float largest = std::max({z[0], z[n], z[2 * n]});
      for (size_t c = 0; c < 3; ++c) {
        ASSERT_EQ(tile.logits[static_cast<int64_t>(c) * kTileVoxels + v],
                  std::max(z[c * n] - largest, -87.0f));
      }
      ASSERT_EQ(tile.offset[v], static_cast<double>(largest));
      ASSERT_EQ(z[tile.decision[v] * n], largest);
      const int32_t label = scene.labels[0][seen];
      ASSERT_EQ(tile.labels[v], label == 255 ? kNoLabel : label);
    }
    for (int64_t v = tile.count; v < kTileVoxels; ++v) ASSERT_EQ(tile.labels[v], kNoLabel);
  }
  EXPECT_EQ(seen, n);
}

// The first of two members alone, and both, are poolings with a name.
TEST(VoxelBlock, PoolsTheLeadingMembersAskedFor) {
  const Scene scene = HalfScene();
  const auto stream = scene.Stream(1);
  const auto reader = stream->Open(0);
  EXPECT_TRUE(TileBytes(*reader, {.leading = 1}) == TileBytes(*reader, ParsePooling("z0")));
  EXPECT_TRUE(TileBytes(*reader, {.leading = 2}) == TileBytes(*reader, ParsePooling("z")));
  EXPECT_FALSE(TileBytes(*reader, {.leading = 1}) == TileBytes(*reader, ParsePooling("z")));
}

TEST(VoxelBlock, MaskedVoxelsHaveNoLabel) {
  Scene scene = RandomScene({.num_cases = 1, .shape = {20, 20}, .ignored = 0.0});
  scene.masks = {std::vector<uint8_t>(400, 1)};
  for (size_t v = 0; v < 400; v += 3) scene.masks[0][v] = 0;
  const auto stream = scene.Stream(1);
  TileBuffer buffer;
  stream->ForEachBlock("test", [&](VoxelBlock& block, int64_t, int) {
    for (int64_t t = 0; t < block.num_tiles(); ++t) {
      const Tile tile = block.PoolTileInto(t, {}, &buffer);
      for (int64_t v = 0; v < tile.count; ++v) {
        EXPECT_EQ(tile.Masked(v), (tile.first_voxel + v) % 3 == 0);
        EXPECT_EQ(tile.labels[v] == kNoLabel, (tile.first_voxel + v) % 3 == 0);
      }
    }
  });
}

TEST(VoxelBlock, UnlabelledCasesHaveNoLabels) {
  Scene scene = RandomScene({.num_cases = 1, .shape = {7, 9}});
  const testing::TempFolder folder;
  Dataset dataset = testing::WriteScene(scene, folder.path());
  dataset.cases[0].labels = {};
  const CaseReader reader(dataset, dataset.cases[0], {}, {});
  VoxelBlock block;
  block.Read(reader, 0, 63);
  for (const int32_t label : block.labels()) EXPECT_EQ(label, kNoLabel);
  TileBuffer buffer;
  EXPECT_EQ(block.PoolTileInto(0, {}, &buffer).masked, nullptr);
}

struct BadValue {
  InputKind input;
  float value;
  const char* part;
};

// Puts one bad number into member 1 of an otherwise good scene, at voxel (80, 5).
TEST(VoxelBlock, NamesFileAndVoxelOfABadValue) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const testing::TempFolder folder;
  for (const BadValue& bad : {BadValue{InputKind::kLogits, NAN, "NaN or +inf"},
                              BadValue{InputKind::kLogits, kInf, "NaN or +inf"},
                              BadValue{InputKind::kProbs, NAN, "NaN"},
                              BadValue{InputKind::kProbs, -0.25f, "negative"},
                              BadValue{InputKind::kProbs, 5.0f, "sum to one"}}) {
    SCOPED_TRACE(bad.part);
    Scene scene = HalfScene(bad.input);
    scene.logits[0][1][80 * 91 + 5] = bad.value;
    const Dataset dataset = testing::WriteScene(scene, folder.path());
    const CaseReader reader(dataset, dataset.cases[0], {}, {});
    for (const char* pooling : {"z", "p", "z1"}) {
      ExpectError(ErrorCode::kBadData,
                  {folder.File("case0_m1.npy"), "voxel (80, 5)", bad.part},
                  [&] { TileBytes(reader, ParsePooling(pooling)); });
    }
    EXPECT_NO_THROW(TileBytes(reader, ParsePooling("z0")));
  }
}

TEST(VoxelBlock, TakesMinusInfinityForAnImpossibleClass) {
  Scene scene = HalfScene();
  for (auto& member : scene.logits[0]) member[5] = -INFINITY;
  std::vector<std::vector<std::byte>> storage;
  storage.reserve(10);
  for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64}) {
    const CaseReader reader = InMemory(scene, dtype, false, &storage);
    for (const char* pooling : {"z", "p", "z0"}) {
      VoxelBlock block;
      TileBuffer buffer;
      block.Read(reader, 0, kTileVoxels);
      EXPECT_EQ(block.PoolTileInto(0, ParsePooling(pooling), &buffer).logits[5], -87.0f) << pooling;
    }
  }
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (size_t c = 0; c < 4; ++c) scene.logits[0][0][c * n + 5] = -INFINITY;
  const CaseReader reader = InMemory(scene, DType::kF32, false, &storage);
  ExpectError(ErrorCode::kBadData, {"member", "voxel (0, 5)", "impossible"}, [&] {
    TileBytes(reader, {});
  });
}

TEST(VoxelBlock, CountsProbabilityRowsItHadToRenormalise) {
  Scene scene = HalfScene(InputKind::kProbs);
  scene.logits[0].resize(1);
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (const size_t v : {3u, 4u, 500u}) {
    for (size_t c = 0; c < 4; ++c) scene.logits[0][0][c * n + v] *= 1.01f;
  }
  std::vector<std::vector<std::byte>> storage;
  const CaseReader reader = InMemory(scene, DType::kF32, false, &storage);
  VoxelBlock block;
  TileBuffer buffer;
  block.Read(reader, 0, kBlockVoxels);
  for (int64_t t = 0; t < block.num_tiles(); ++t) block.PoolTileInto(t, {}, &buffer);
  EXPECT_EQ(block.TakeRenormalised(), 3);
  EXPECT_EQ(block.TakeRenormalised(), 0);
}

// The pooled tiles of a scene's only case, lane by lane, with what is masked.
struct PooledLane {
  std::vector<float> logits;
  double offset = 0.0;
  uint16_t decision = 0;
  bool masked = false;
};
std::vector<PooledLane> PooledLanes(const Scene& scene, const Pooling& pooling, Excused excused) {
  const auto stream = scene.Stream(1);
  const auto reader = stream->Open(0);
  VoxelBlock block;
  TileBuffer buffer;
  block.Read(*reader, 0, reader->num_voxels());
  std::vector<PooledLane> lanes;
  for (int64_t t = 0; t < block.num_tiles(); ++t) {
    const Tile tile = block.PoolTileInto(t, pooling, &buffer, excused);
    for (int64_t v = 0; v < tile.count; ++v) {
      PooledLane& lane = lanes.emplace_back();
      for (int64_t c = 0; c < tile.num_classes; ++c)
        lane.logits.push_back(tile.logits[c * kTileVoxels + v]);
      lane.offset = tile.offset[v];
      lane.decision = tile.decision[v];
      lane.masked = tile.Masked(v);
    }
  }
  return lanes;
}

// Rows that are no distribution of this kind of input, one for each way.
std::vector<std::vector<float>> BadRows(InputKind input) {
  const float nan = std::nanf("");
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<std::vector<float>> rows = {{nan, 0.5f, 0.25f, 0.25f}, {inf, 0.0f, 0.0f, 0.0f}};
  if (input == InputKind::kProbs) {
    rows.insert(rows.end(), {{0.0f, 0.0f, 0.0f, 0.0f}, {-0.5f, 1.0f, 0.5f, 0.0f}, {2, 1, 1, 1}});
  } else {
    rows.push_back({-inf, -inf, -inf, -inf});
  }
  return rows;
}

// What takes no part may be anything: it is as if all classes were equal, and masked. Everything
// else keeps its bits, whatever path pooled it.
TEST(VoxelBlock, ExcusesPredictionsThatTakeNoPart) {
  for (const InputKind input : {InputKind::kLogits, InputKind::kProbs}) {
    for (const char* name : {"z", "p", "z1"}) {
      Scene scene = HalfScene(input);
      const auto n = static_cast<size_t>(scene.num_voxels());
      scene.masks = {std::vector<uint8_t>(n, 1)};
      constexpr size_t kMaskedAt = 300;
      constexpr size_t kIgnoredAt = 301;
      scene.masks[0][kMaskedAt] = 0;
      scene.labels[0][kMaskedAt] = 1;
      scene.labels[0][kIgnoredAt] = 255;
      const Pooling pooling = ParsePooling(name);
      const auto before = PooledLanes(scene, pooling, Excused::kMasked);
      for (const std::vector<float>& bad : BadRows(input)) {
        Scene broken = scene;
        const auto put = [&](size_t voxel) {
          for (size_t c = 0; c < 4; ++c) broken.logits[0][1][c * n + voxel] = bad[c];
        };
        put(kMaskedAt);
        const auto masked = PooledLanes(broken, pooling, Excused::kMasked);
        EXPECT_EQ(masked[kMaskedAt].logits, std::vector<float>(4, 0.0f));
        EXPECT_TRUE(masked[kMaskedAt].masked);
        put(kIgnoredAt);
        const auto after = PooledLanes(broken, pooling, Excused::kUnlabelled);
        for (size_t v = 0; v < n; ++v) {
          if (v == kMaskedAt || v == kIgnoredAt) continue;
          ASSERT_EQ(after[v].logits, before[v].logits) << name << " voxel " << v;
          ASSERT_EQ(after[v].offset, before[v].offset) << name << " voxel " << v;
          ASSERT_EQ(after[v].decision, before[v].decision) << name << " voxel " << v;
          ASSERT_EQ(after[v].masked, before[v].masked) << name << " voxel " << v;
        }
        EXPECT_EQ(after[kIgnoredAt].logits, std::vector<float>(4, 0.0f));
        EXPECT_EQ(after[kIgnoredAt].decision, 0);
        EXPECT_TRUE(after[kIgnoredAt].masked);
        // Written out it is not masked, and counts.
        ExpectError(ErrorCode::kBadData, {"voxel (3, 28)"}, [&] {
          PooledLanes(broken, pooling, Excused::kMasked);
        });
      }
    }
  }
}

TEST(VoxelBlock, ExcusesNoVoxelThatCounts) {
  Scene scene = HalfScene();
  const auto n = static_cast<size_t>(scene.num_voxels());
  scene.masks = {std::vector<uint8_t>(n, 1)};
  scene.masks[0][300] = 0;
  for (const size_t voxel : {300, 302}) scene.logits[0][0][n + voxel] = std::nanf("");
  scene.labels[0][302] = 2;
  for (const Excused excused : {Excused::kUnlabelled, Excused::kMasked}) {
    ExpectError(
        ErrorCode::kBadData, {"voxel (3, 29)", "NaN"}, [&] { PooledLanes(scene, {}, excused); });
  }
}

}  // namespace
}  // namespace segcal
