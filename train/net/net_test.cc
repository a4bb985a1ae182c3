// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/errors.h"
#include "train/net/adam.h"
#include "train/net/unet.h"

namespace segcal::train {
namespace {

Tensor RandomImages(const std::vector<int64_t>& shape) {
  Tensor images = at::empty(shape);
  Rng rng(5, 0);
  auto* values = images.data_ptr<float>();
  for (int64_t i = 0; i < images.numel(); ++i) values[i] = static_cast<float>(rng.Normal());
  return images;
}

// The numbers of the paper's network in two dimensions, counted by hand: convolutions of 9 ab
// weights with 2b numbers of their normalisation, 4 ab + b on the way up, ab + b at the end.
TEST(UNet, HasTheWeightsOfThePapersNetwork) {
  const UNet net({.axes = 2, .channels = 1, .classes = 4, .width = 32, .depth = 5});
  const int64_t sizes[] = {32, 64, 128, 256, 512};
  int64_t expected = 32 * 4 + 4;
  int64_t in = 1;
  for (const int64_t b : sizes) {
    expected += 9 * in * b + 9 * b * b + 4 * b;
    in = b;
  }
  for (const int64_t b : {256, 128, 64, 32})
    expected += 4 * 2 * b * b + b + 9 * 2 * b * b + 9 * b * b + 4 * b;
  EXPECT_EQ(net.num_weights(), expected);
  EXPECT_EQ(net.stride(), 16);
}

TEST(UNet, GivesLogitsOfTheShapeOfTheImages) {
  for (const int64_t axes : {2, 3}) {
    const UNet net({.axes = axes, .channels = 2, .classes = 3, .width = 2, .depth = 3});
    const UNetState state = net.Initialise(Rng(1, 0));
    std::vector<int64_t> shape = {2, 2, 8, 12, 4};
    shape.resize(static_cast<size_t>(axes + 2));
    const Tensor logits = net.Forward(state, RandomImages(shape), UNet::Mode::kPredict);
    shape[1] = 3;
    EXPECT_EQ(logits.sizes(), at::IntArrayRef(shape));
    EXPECT_TRUE(logits.isfinite().all().item<bool>());
  }
}

TEST(UNet, StartsFromTheGeneratorAlone) {
  const UNet net({.width = 4, .depth = 2});
  EXPECT_TRUE(net.Initialise(Rng(1, 0)).weights.equal(net.Initialise(Rng(1, 0)).weights));
  EXPECT_FALSE(net.Initialise(Rng(1, 0)).weights.equal(net.Initialise(Rng(2, 0)).weights));
}

// In training the statistics move by a tenth towards those of the batch; the first normalisation is
// of a convolution of the image, which torch computes by itself here.
TEST(UNet, CountsMeansAndVariancesAlong) {
  const UNet net({.axes = 2, .channels = 1, .classes = 2, .width = 4, .depth = 1});
  const UNetState state = net.Initialise(Rng(1, 0));
  const Tensor images = RandomImages({2, 1, 6, 6});
  const Tensor first =
      at::conv2d(images, state.weights.narrow(0, 0, 36).view({4, 1, 3, 3}), {}, 1, 1);
  net.Forward(state, images, UNet::Mode::kTrain);
  const Tensor mean = first.mean({0, 2, 3});
  const Tensor variance = first.var({0, 2, 3}, /*unbiased=*/true);
  EXPECT_TRUE(state.statistics.narrow(0, 0, 4).allclose(0.1 * mean, 1e-5, 1e-7));
  EXPECT_TRUE(state.statistics.narrow(0, 4, 4).allclose(0.9 + 0.1 * variance, 1e-5, 1e-7));
  const Tensor before = state.statistics.clone();
  net.Forward(state, images, UNet::Mode::kPredict);
  EXPECT_TRUE(state.statistics.equal(before));
}

// Of the sum of the logits against their differences, for some weights of every layer.
TEST(UNet, GradientsAreDifferences) {
  const UNet net({.axes = 2, .channels = 1, .classes = 2, .width = 2, .depth = 2});
  const UNetState state = net.Initialise(Rng(1, 0));
  const Tensor images = RandomImages({1, 1, 4, 4}).to(at::kDouble);
  const Tensor weights = state.weights.to(at::kDouble);
  const auto loss = [&](const Tensor& at) {
    const UNetState moved{.weights = at, .statistics = state.statistics.to(at::kDouble)};
    return net.Forward(moved, images, UNet::Mode::kPredict).square().sum();
  };
  Tensor leaf = weights.clone().requires_grad_();
  loss(leaf).backward();
  const double step = 1e-6;
  for (int64_t i = 0; i < net.num_weights(); i += 7) {
    const auto at = [&](double delta) {
      const Tensor moved = weights.clone();
      moved.data_ptr<double>()[i] += delta;
      return loss(moved).item<double>();
    };
    const double expected = (at(step) - at(-step)) / (2.0 * step);
    const double found = leaf.grad().data_ptr<double>()[i];
    EXPECT_NEAR(found, expected, 1e-5 * std::max(1.0, std::fabs(expected))) << i;
  }
}

TEST(UNet, NamesWhatDoesNotFit) {
  testing::ExpectError(
      ErrorCode::kInvalidArgument, {"depth", "0"}, [] { const UNet net({.depth = 0}); });
  testing::ExpectError(
      ErrorCode::kInvalidArgument, {"axes", "4"}, [] { const UNet net({.axes = 4}); });
}

// The recurrence of the paper, number by number, in double.
TEST(Adam, IsTheRecurrenceOfThePaper) {
  Tensor weights = torch::tensor({1.0, -2.0, 0.5}, at::kDouble);
  Adam adam = Adam::For(weights);
  std::vector<double> w = {1.0, -2.0, 0.5};
  std::vector<double> m(3, 0.0);
  std::vector<double> v(3, 0.0);
  for (int t = 1; t <= 5; ++t) {
    const Tensor gradient = 2.0 * weights + 0.1 * t;
    adam.Step(gradient, 0.01, &weights);
    for (size_t i = 0; i < 3; ++i) {
      const double g = 2.0 * w[i] + 0.1 * t;
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      const double mean = m[i] / (1.0 - std::pow(0.9, t));
      const double squares = v[i] / (1.0 - std::pow(0.999, t));
      w[i] -= 0.01 * mean / (std::sqrt(squares) + 1e-8);
      EXPECT_NEAR(weights.data_ptr<double>()[i], w[i], 1e-12);
    }
  }
}

}  // namespace
}  // namespace segcal::train
