// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/json.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"
#include "train/run/predictor.h"
#include "train/run/state_file.h"

namespace segcal::train {
namespace {

using segcal::testing::ExpectError;
using segcal::testing::TempFolder;

ImageCase RandomImage(const Extent& extent, uint64_t seed) {
  ImageCase image;
  image.extent = extent;
  Rng rng(seed, 0);
  for (int64_t v = 0; v < NumVoxels(extent); ++v)
    image.values.push_back(static_cast<float>(rng.Normal()));
  return image;
}

TEST(StateFile, ReadsBackWhatItWrote) {
  const TempFolder folder;
  const Tensor first = torch::tensor({1.5f, -2.0f});
  const Tensor second = torch::tensor({3.0f});
  SaveState(folder.File("x.net"), {{"epochs", 3}}, {first, second});
  const Tensor a = at::zeros({2});
  const Tensor b = at::zeros({1});
  EXPECT_EQ(LoadState(folder.File("x.net"), {a, b}).at("epochs"), 3);
  EXPECT_TRUE(a.equal(first));
  EXPECT_TRUE(b.equal(second));
}

TEST(StateFile, RefusesWhatIsNoneOrOfAnotherNetwork) {
  const TempFolder folder;
  const Tensor two = at::zeros({2});
  SaveState(folder.File("x.net"), {{"epochs", 3}}, {two});
  ExpectError(ErrorCode::kBadData, {"x.net", "another network"}, [&] {
    LoadState(folder.File("x.net"), {two, two});
  });
  folder.Put("text.net", "hello\n");
  ExpectError(ErrorCode::kBadData, {"text.net", "not a network"}, [&] {
    LoadState(folder.File("text.net"), {two});
  });
  folder.Put("empty.net", "");
  ExpectError(
      ErrorCode::kBadData, {"empty.net"}, [&] { LoadState(folder.File("empty.net"), {two}); });
}

// A network without context: tiles, borders and mirrored views cannot matter. Its convolutions keep
// their middle weight alone.
UNetState WithoutContext(const UNet& net) {
  UNetState state = net.Initialise(Rng(2, 0));
  const int64_t width = net.options().width;
  int64_t at = 0;
  for (const int64_t in : {int64_t{1}, width}) {
    Tensor kernels = state.weights.narrow(0, at, 9 * in * width).view({width, in, 9});
    const Tensor middle = kernels.select(2, 4).clone();
    kernels.zero_();
    kernels.select(2, 4).copy_(middle);
    at += 9 * in * width + 2 * width;
  }
  return state;
}

TEST(PredictImage, TilesAndMirroredViewsOfAPixelwiseNetworkAreTheWhole) {
  const UNet net({.axes = 2, .channels = 1, .classes = 3, .width = 4, .depth = 1});
  const UNetState state = WithoutContext(net);
  const ImageCase image = RandomImage({2, 13, 17}, 1);
  const Tensor whole = PredictImage(net, state, image, {});
  EXPECT_EQ(whole.sizes(), at::IntArrayRef({3, 2, 13, 17}));
  EXPECT_GT(whole.std().item<double>(), 0.01);  // it does depend on the image
  for (const PredictorOptions& options : {PredictorOptions{.tile = 5},
                                          PredictorOptions{.tile = 100},
                                          PredictorOptions{.mirror = true},
                                          PredictorOptions{.tile = 6, .mirror = true}}) {
    EXPECT_TRUE(PredictImage(net, state, image, options).allclose(whole, 1e-5, 1e-6))
        << options.tile;
  }
}

// Mirroring the image mirrors the mean over mirrored views, whatever the network.
TEST(PredictImage, MirroredMeanFollowsTheImage) {
  const UNet net({.axes = 3, .channels = 1, .classes = 2, .width = 2, .depth = 2});
  const UNetState state = net.Initialise(Rng(4, 0));
  ImageCase image = RandomImage({4, 6, 8}, 2);
  const Tensor before = PredictImage(net, state, image, {.mirror = true});
  const Tensor plain = PredictImage(net, state, image, {});
  Tensor values = torch::from_blob(image.values.data(), {4, 6, 8});
  values.copy_(values.flip({1}).clone());
  const Tensor after = PredictImage(net, state, image, {.mirror = true});
  EXPECT_TRUE(after.flip({2}).allclose(before, 1e-4, 1e-5));
  EXPECT_FALSE(PredictImage(net, state, image, {}).flip({2}).allclose(plain, 1e-4, 1e-5));
}

}  // namespace
}  // namespace segcal::train
