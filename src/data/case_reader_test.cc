// SPDX-License-Identifier: Apache-2.0
#include "data/case_reader.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using Shape = std::vector<int64_t>;

// Arrays of zeros; what they hold does not matter here.
const std::vector<std::byte> kZeros(1 << 16);

std::unique_ptr<Array> Zeros(const char* name,
                             DType dtype,
                             const Shape& shape,
                             std::vector<double> spacing = {}) {
  return ArrayOverMemory(
      name, {.dtype = dtype, .shape = shape, .spacing = std::move(spacing)}, kZeros.data());
}

struct Parts {
  std::vector<Shape> members = {{3, 4, 5}};
  DType dtype = DType::kF32;
  Shape labels = {};  // empty: none
  std::vector<double> label_spacing = {};
  Shape mask = {};  // empty: none
  std::vector<double> spacing = {};
  Layout layout = Layout::kChannelsFirst;
};

CaseReader Open(const Parts& parts) {
  Dataset dataset;
  dataset.classes = {"a", "b", "c"};
  dataset.input = InputKind::kLogits;
  dataset.layout = parts.layout;
  Case entry;
  entry.id = "case7";
  entry.spacing = parts.spacing;
  std::vector<std::shared_ptr<const Array>> members;
  for (const Shape& shape : parts.members)
    members.push_back(Zeros("member.npy", parts.dtype, shape));
  auto labels = parts.labels.empty()
                    ? nullptr
                    : Zeros("labels.png", DType::kU8, parts.labels, parts.label_spacing);
  auto mask = parts.mask.empty() ? nullptr : Zeros("mask.png", DType::kU8, parts.mask);
  return CaseReader(dataset, entry, std::move(members), std::move(labels), std::move(mask));
}

void ExpectRefusedCase(const Parts& parts, const std::vector<std::string>& message) {
  ExpectError(ErrorCode::kBadData, message, [&] { Open(parts); });
}

TEST(CaseReader, TakesItsShapeFromTheMembers) {
  const CaseReader plane = Open({});
  EXPECT_EQ(plane.shape(), (Shape{4, 5}));
  EXPECT_EQ(plane.num_voxels(), 20);
  EXPECT_FALSE(plane.has_labels());
  EXPECT_EQ(Open({.members = {{3, 2, 4, 5}}}).shape(), (Shape{2, 4, 5}));
  EXPECT_EQ(Open({.members = {{3, 9}}}).shape(), (Shape{9}));
  EXPECT_EQ(Open({.members = {{4, 5, 3}}, .layout = Layout::kChannelsLast}).shape(), (Shape{4, 5}));
}

TEST(CaseReader, RefusesAnotherNumberOfChannels) {
  ExpectRefusedCase({.members = {{12, 4, 5}}},
                    {"member.npy", "12 channels", "(12, 4, 5)", "3 classes"});
}

TEST(CaseReader, HintsAtTheOtherLayoutWhereThatWouldFit) {
  ExpectRefusedCase({.members = {{4, 5, 3}}}, {"4 channels", "\"layout\": \"channels_last\""});
  ExpectRefusedCase({.members = {{3, 4, 5}}, .layout = Layout::kChannelsLast},
                    {"\"layout\": \"channels_first\""});
}

TEST(CaseReader, RefusesPredictionsThatAreNoFloats) {
  ExpectRefusedCase({.dtype = DType::kI16}, {"member.npy", "int16", "float16, float32 or float64"});
}

TEST(CaseReader, RefusesTooFewOrTooManyAxes) {
  ExpectRefusedCase({.members = {{3}}}, {"member.npy", "(3)"});
  ExpectRefusedCase({.members = {{3, 2, 2, 2, 2}}},
                    {"(3, 2, 2, 2, 2)", "one to three spatial axes"});
}

TEST(CaseReader, RefusesACaseWithoutVoxels) {
  ExpectRefusedCase({.members = {{3, 0, 5}}}, {"member.npy", "no voxels"});
}

TEST(CaseReader, RefusesMembersOfDifferentShape) {
  ExpectRefusedCase({.members = {{3, 4, 5}, {3, 5, 4}}}, {"(5, 4)", "first member has (4, 5)"});
}

TEST(CaseReader, RefusesLabelsAndMasksOfAnotherShape) {
  ExpectRefusedCase({.labels = {5, 4}}, {"labels.png", "(5, 4)", "(4, 5)"});
  ExpectRefusedCase({.mask = {4, 4}}, {"mask.png", "mask of shape (4, 4)"});
  ExpectRefusedCase({.labels = {4, 5, 3}}, {"labels.png"});
}

TEST(CaseReader, ComparesShapesWithoutUnitAxes) {
  EXPECT_EQ(Open({.members = {{3, 1, 4, 5}}, .labels = {4, 5}, .mask = {4, 1, 5}}).shape(),
            (Shape{1, 4, 5}));
  EXPECT_TRUE(Open({.labels = {1, 4, 5}}).has_labels());
}

TEST(CaseReader, TakesSpacingFromTheDataSetThenTheLabelsThenOnes) {
  using Spacing = std::vector<double>;
  EXPECT_EQ(Open({}).spacing(), (Spacing{1, 1}));
  const Parts labelled{.labels = {4, 5}, .label_spacing = {0.5, 2}};
  EXPECT_EQ(Open(labelled).spacing(), (Spacing{0.5, 2}));
  Parts both = labelled;
  both.spacing = {3, 4};
  EXPECT_EQ(Open(both).spacing(), (Spacing{3, 4}));
  // A spacing of other axes says nothing about these.
  EXPECT_EQ(Open({.labels = {1, 4, 5}, .label_spacing = {9, 0.5, 2}}).spacing(), (Spacing{1, 1}));
  ExpectRefusedCase({.spacing = {1, 1, 1}}, {"case case7", "3 numbers", "2 spatial axes"});
}

TEST(CaseReader, DescribesVoxelsByTheirIndex) {
  EXPECT_EQ(Open({}).DescribeVoxel(17), "voxel (3, 2)");
  EXPECT_EQ(Open({.members = {{3, 2, 4, 5}}}).DescribeVoxel(39), "voxel (1, 3, 4)");
}

TEST(CaseReader, OpensOnlyTheMembersItIsAskedFor) {
  const testing::TempFolder folder;
  const auto scene =
      testing::RandomScene({.num_cases = 1, .num_members = 2, .num_classes = 3, .shape = {4, 5}});
  const Dataset dataset = testing::WriteScene(scene, folder.path());
  std::filesystem::remove(folder.File(dataset.cases[0].members[0].path()));
  const CaseReader reader(dataset, dataset.cases[0], {1}, {});
  EXPECT_EQ(reader.num_members(), 2);
  EXPECT_EQ(reader.member(0), nullptr);
  ASSERT_NE(reader.member(1), nullptr);
  EXPECT_EQ(reader.geometry_file(), "");  // PNG and npy know no geometry
  ExpectError(ErrorCode::kIo, {dataset.cases[0].members[0].path()}, [&] {
    CaseReader(dataset, dataset.cases[0], {}, {});
  });
  ExpectError(ErrorCode::kInvalidArgument, {"case case0", "none of its 2 members"}, [&] {
    CaseReader(dataset, dataset.cases[0], {7}, {});
  });
}

// Compressed arrays that are broken behind their headers: whoever decodes them finds that out.
class BrokenFiles : public ::testing::Test {
 protected:
  ArraySource Put(const std::string& name, DType dtype, const Shape& shape) const {
    const ArrayInfo info{.dtype = dtype, .shape = shape, .spacing = {}};
    std::vector<uint8_t> noise(static_cast<size_t>(info.NumElements() * ElementSize(dtype)));
    uint32_t state = 1;
    for (uint8_t& byte : noise) byte = static_cast<uint8_t>((state = state * 1664525 + 1) >> 24);
    WriteOptions options;
    options.compress = true;
    SaveArray(folder_.File(name), info, noise.data(), options);
    std::string bytes = folder_.Get(name);
    for (size_t at = bytes.size() / 2; at < bytes.size() / 2 + 64; ++at) bytes[at] ^= '\x55';
    folder_.Put(name, bytes);
    return name;
  }
  void ExpectRefused(const Case& entry, const std::vector<std::string>& message) const {
    const Dataset dataset{
        .classes = {"a", "b", "c"}, .input = InputKind::kLogits, .folder = folder_.path()};
    ExpectError(ErrorCode::kBadData, message, [&] { CaseReader(dataset, entry, {}, {}); });
  }
  std::string Whole(const Shape& shape) const {
    const std::vector<float> zeros(
        static_cast<size_t>(ArrayInfo{.shape = shape, .spacing = {}}.NumElements()));
    SaveArray(folder_.File("m.npy"), {.shape = shape, .spacing = {}}, zeros.data());
    return "m.npy";
  }

  testing::TempFolder folder_;
};

TEST_F(BrokenFiles, AreBrokenWhereTheirShapeIsRight) {
  ExpectRefused({.id = "c", .members = {Put("m.npz", DType::kF32, {3, 40, 50})}}, {"m.npz"});
  ExpectRefused({.id = "c",
                 .members = {Whole({3, 1, 40, 50})},
                 .labels = Put("l.nii.gz", DType::kU8, {1, 40, 50})},
                {"l.nii.gz"});
}

TEST_F(BrokenFiles, AreRefusedByTheirShapeBeforeTheyAreDecoded) {
  ExpectRefused({.id = "c", .members = {Put("m.npz", DType::kF32, {4, 40, 50})}},
                {"m.npz", "4 channels", "3 classes"});
  ExpectRefused({.id = "c", .members = {Put("m.npz", DType::kI32, {3, 40, 50})}},
                {"m.npz", "int32 values"});
  ExpectRefused({.id = "c", .members = {Whole({3, 4, 5}), Put("n.npz", DType::kF32, {3, 40, 50})}},
                {"n.npz", "spatial shape (40, 50)", "(4, 5)"});
  ExpectRefused({.id = "c",
                 .members = {Whole({3, 1, 4, 5})},
                 .labels = Put("l.nii.gz", DType::kU8, {1, 40, 50})},
                {"l.nii.gz", "labels of shape (1, 40, 50)", "(1, 4, 5)"});
  ExpectRefused(
      {.id = "c", .members = {Whole({3, 4, 5})}, .mask = Put("k.png", DType::kU8, {40, 50})},
      {"k.png", "mask of shape (40, 50)"});
}

TEST_F(BrokenFiles, OfABatchOrOfOneClassAreToo) {
  Put("b.npz", DType::kF32, {2, 4, 40, 50});
  ExpectRefused({.id = "c", .members = {ArraySource::Item("b.npz", 1)}},
                {"b.npz", "[1]", "4 channels", "(4, 40, 50)"});
  Put("p.npz", DType::kF32, {40, 50});
  ExpectRefused({.id = "c", .members = {ArraySource::PerClass({"p.npz", "p.npz"})}},
                {"p.npz", "2 channels", "(2, 40, 50)"});
  ExpectRefused({.id = "c", .members = {ArraySource::PerClass({Whole({4, 5}), "p.npz", "p.npz"})}},
                {"p.npz", "(40, 50)", "m.npy", "must be alike"});
}

}  // namespace
}  // namespace segcal
