// SPDX-License-Identifier: Apache-2.0
#include "simulate/plan.h"

#include <gtest/gtest.h>

#include <limits>

#include "segcal/error.h"

namespace segcal {
namespace {

std::string MessageOf(const SimulateOptions& options) {
  try {
    MakePlan(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "";
}

TEST(MakePlan, FillsInThePreset) {
  SimulateOptions options;
  options.preset = "brain";
  const SimulationPlan plan = MakePlan(options);
  EXPECT_EQ(plan.num_classes(), 5);
  EXPECT_EQ(plan.shape(), (std::vector<int64_t>{48, 96, 96}));
  EXPECT_EQ(plan.num_voxels, 48 * 96 * 96);
  EXPECT_FALSE(plan.HasVoid());
}

TEST(MakePlan, KeepsWhatIsAskedFor) {
  SimulateOptions options;
  options.size = {1, 1};
  options.num_classes = 1;
  options.ignore_fraction = 0.0;
  const SimulationPlan plan = MakePlan(options);
  EXPECT_EQ(plan.num_classes(), 1);
  EXPECT_EQ(plan.num_voxels, 1);
  EXPECT_FALSE(plan.HasVoid());
}

TEST(MakePlan, RefusesSizesThatDoNotFit) {
  SimulateOptions options;
  options.size = {4, 5, 6};
  EXPECT_EQ(MessageOf(options), "size has 3 axes, the preset street has 2");
  options.size = {4, 0};
  EXPECT_EQ(MessageOf(options), "size: an axis of 0, at least 1 is required");
  const int64_t huge = std::numeric_limits<int64_t>::max();
  options.size = {huge, huge};
  EXPECT_EQ(MessageOf(options), "size: more than 4294967296 logits per case with 12 classes");
  options.size = {1 << 16, 1 << 16};
  EXPECT_NE(MessageOf(options), "");
}

TEST(MakePlan, RefusesNumbersOutOfRange) {
  const auto message = [](auto change) {
    SimulateOptions options;
    change(&options);
    return MessageOf(options);
  };
  EXPECT_EQ(message([](auto* o) { o->num_cases = 0; }), "cases 0: 1 to 1000000 is required");
  EXPECT_EQ(message([](auto* o) { o->num_members = 0; }), "members 0: 1 to 1000 is required");
  EXPECT_EQ(message([](auto* o) { o->num_classes = 0; }), "classes 0: 1 to 255 is required");
  EXPECT_EQ(message([](auto* o) { o->num_classes = 256; }), "classes 256: 1 to 255 is required");
  EXPECT_EQ(message([](auto* o) { o->temperature = 0.0; }),
            "temperature 0: 0.01 to 100 is required");
  EXPECT_EQ(message([](auto* o) { o->correlation = -1.0; }), "correlation -1: 0 to 64 is required");
  EXPECT_NE(message([](auto* o) { o->offset = std::numeric_limits<double>::quiet_NaN(); }), "");
  EXPECT_EQ(message([](auto* o) { o->dtype = DType::kF64; }),
            "dtype float64: float16 or float32 is required");
  EXPECT_NE(message([](auto* o) { o->input = InputKind::kLogProbs; }), "");
  EXPECT_NE(message([](auto* o) { o->preset = "moon"; }), "");
}

TEST(ForVoxelBlocks, VisitsEveryVoxelOnce) {
  SimulateOptions options;
  options.size = {100, 101};
  const SimulationPlan plan = MakePlan(options);
  std::vector<int> visits(static_cast<size_t>(plan.num_voxels), 0);
  ForVoxelBlocks(plan, [&](int64_t block, int64_t first, int64_t end) {
    EXPECT_LT(block, NumVoxelBlocks(plan));
    for (int64_t v = first; v < end; ++v) ++visits[static_cast<size_t>(v)];
  });
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
}

}  // namespace
}  // namespace segcal
