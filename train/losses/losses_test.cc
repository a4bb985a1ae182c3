// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "kernels/tile.h"
#include "tests/support/errors.h"
#include "train/losses/loss.h"
#include "train/losses/svls.h"

namespace segcal::train {
namespace {

using segcal::testing::ExpectError;

struct Variant {
  const char* name;
  OptionMap options;
};

// Every loss, and every branch of its options.
std::vector<Variant> Variants() {
  std::vector<Variant> variants = {{"focal", {{"gamma", "0.5"}}},
                                   {"ce_dice", {{"include_background", "false"}}},
                                   {"ml1_ace", {{"binning", "soft"}}},
                                   {"ml1_ace", {{"bins", "5"}, {"dice", "1"}}},
                                   {"nacl", {{"penalty", "l2"}}},
                                   {"nacl", {{"on", "softmax"}, {"over_classes", "mean"}}}};
  for (const LossInfo* info : Losses()) variants.push_back({info->name, {}});
  for (const char* prior : {"gaussian", "max", "min", "median", "mode"})
    variants.push_back({"nacl", {{"prior", prior}, {"patch", "5"}, {"padding", "zero"}}});
  return variants;
}

// Logits in double and labels; class 2 is absent, some voxels are ignored, a corner altogether.
struct Sample {
  Tensor logits;
  Tensor labels;
};
Sample Draw(const std::vector<int64_t>& spatial, bool ignored = true) {
  std::vector<int64_t> shape = {2, 4};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  Sample sample{.logits = at::empty(shape, at::kDouble), .labels = {}};
  Rng rng(3, 1);
  auto* z = sample.logits.data_ptr<double>();
  for (int64_t i = 0; i < sample.logits.numel(); ++i) z[i] = 3.0 * rng.Normal();
  shape.erase(shape.begin() + 1);
  sample.labels = at::empty(shape, at::kLong);
  auto* y = sample.labels.data_ptr<int64_t>();
  for (int64_t i = 0; i < sample.labels.numel(); ++i) {
    const int64_t drawn = rng.Below(3);
    y[i] = ignored && (i < 4 || rng.Uniform() < 0.2) ? kNoLabel : drawn + (drawn == 2 ? 1 : 0);
  }
  return sample;
}

const std::vector<double> kWeights = {0.5, 2.0, 1.0, 1.5};

double Value(const Loss& loss, const Tensor& logits, const Tensor& labels) {
  return loss.Compute(LossBatch(logits, labels, kWeights)).item<double>();
}

Tensor Gradient(const Loss& loss, const Sample& sample, const std::vector<double>& weights) {
  Tensor logits = sample.logits.detach().clone().requires_grad_();
  loss.Compute(LossBatch(logits, sample.labels, weights)).backward();
  return logits.grad();
}

TEST(Losses, GradientsAreTheDifferencesOfTheirValues) {
  const double step = 1e-6;
  for (const Variant& variant : Variants()) {
    const auto loss = MakeLoss(variant.name, variant.options);
    const Sample sample = Draw({3, 4});
    const Tensor gradient = Gradient(*loss, sample, kWeights);
    const auto* g = gradient.data_ptr<double>();
    for (int64_t i = 0; i < gradient.numel(); ++i) {
      const auto at = [&](double delta) {
        const Tensor moved = sample.logits.clone();
        moved.data_ptr<double>()[i] += delta;
        return Value(*loss, moved, sample.labels);
      };
      EXPECT_NEAR(g[i], (at(step) - at(-step)) / (2.0 * step), 2e-8) << variant.name << " " << i;
    }
  }
}

TEST(Losses, IgnoredVoxelsHaveNoGradientAndNoSay) {
  for (const Variant& variant : Variants()) {
    const auto loss = MakeLoss(variant.name, variant.options);
    for (const Sample& sample : {Draw({5, 6}), Draw({3, 4, 3})}) {
      const Tensor ignored = (sample.labels == kNoLabel).unsqueeze(1).expand_as(sample.logits);
      const Tensor gradient = Gradient(*loss, sample, {});
      EXPECT_EQ(gradient.masked_select(ignored).abs().max().item<double>(), 0.0) << variant.name;
      EXPECT_GT(gradient.abs().max().item<double>(), 0.0) << variant.name;
      const Tensor changed = at::where(ignored, -2.0 * sample.logits + 1.0, sample.logits);
      EXPECT_NEAR(
          Value(*loss, changed, sample.labels), Value(*loss, sample.logits, sample.labels), 1e-12)
          << variant.name;
    }
  }
}

TEST(Losses, ABatchWithoutLabelsIsZeroWithZeroGradient) {
  for (const Variant& variant : Variants()) {
    const auto loss = MakeLoss(variant.name, variant.options);
    Sample sample = Draw({4, 5});
    sample.labels.fill_(kNoLabel);
    EXPECT_NEAR(Value(*loss, sample.logits, sample.labels), 0.0, 1e-7) << variant.name;
    EXPECT_EQ(Gradient(*loss, sample, kWeights).abs().max().item<double>(), 0.0) << variant.name;
  }
}

TEST(Losses, ConfidentLogitsStayFinite) {
  Tensor logits = at::zeros({1, 3, 2, 2});
  logits.select(1, 0).fill_(200.0);  // every other probability underflows
  const Sample sample{.logits = logits, .labels = torch::tensor({0, 1, 2, 0}).view({1, 2, 2})};
  for (const Variant& variant : Variants()) {
    const auto loss = MakeLoss(variant.name, variant.options);
    EXPECT_TRUE(
        std::isfinite(loss->Compute(LossBatch(sample.logits, sample.labels)).item<double>()))
        << variant.name;
    EXPECT_TRUE(Gradient(*loss, sample, {}).isfinite().all().item<bool>()) << variant.name;
  }
}

TEST(Losses, LimitsAreTheLossesTheyGeneralise) {
  const Sample sample = Draw({5, 6});
  const double ce = Value(*MakeLoss("ce"), sample.logits, sample.labels);
  for (const Variant& limit : {Variant{"focal", {{"gamma", "0"}}},
                               {"ls", {{"alpha", "0"}}},
                               {"ecp", {{"lam", "0"}}},
                               {"mbls", {{"margin", "1000"}}},
                               {"nacl", {{"lam", "0"}}},
                               {"mmce", {{"lam", "0"}}},
                               {"ml1_ace", {{"lam", "0"}}},
                               {"ce_dice", {{"lam", "0"}}}}) {
    const auto loss = MakeLoss(limit.name, limit.options);
    EXPECT_NEAR(Value(*loss, sample.logits, sample.labels), ce, 1e-12 * ce) << limit.name;
  }
}

// The published weights of a patch of 3 x 3: (edge, corner).
TEST(SpatialLabelSmoothing, HasThePublishedWeights) {
  for (const auto& [sigma, edge, corner] : {std::tuple(0.5, .2202, .0298),
                                            std::tuple(1.0, .15561, .09439),
                                            std::tuple(2.0, .1328, .1172)}) {
    double total = 0.0;
    for (const PatchVoxel& voxel : NeighbourWeights(2, sigma)) {
      const bool is_edge = voxel.at[0] == 1 || voxel.at[1] == 1;
      EXPECT_NEAR(voxel.weight, is_edge ? edge : corner, 5e-5) << sigma;
      total += voxel.weight;
    }
    EXPECT_NEAR(total, 1.0, 1e-12);
    EXPECT_EQ(NeighbourWeights(3, sigma).size(), 26u);
  }
}

// [Murugesan23, Eq. 5]: 2 SVLS = CE + KL(tau || s) + H(tau), the last a constant.
TEST(SpatialLabelSmoothing, IsCrossEntropyPlusTheDivergenceFromTheNeighbours) {
  const Sample sample = Draw({6, 7}, /*ignored=*/false);
  const LossBatch batch(sample.logits, sample.labels);
  const Tensor tau = 2.0 * SpatiallySmoothLabels(batch, 2.0) - batch.OneHot();
  const auto voxels = static_cast<double>(sample.labels.numel());
  const double divergence = at::kl_div(batch.log_probs(), tau, at::Reduction::Sum).item<double>();
  const double entropy = -at::xlogy(tau, tau).sum().item<double>();
  const double cross = at::cross_entropy_loss(sample.logits, sample.labels).item<double>();
  EXPECT_NEAR(2.0 * MakeLoss("svls")->Compute(batch).item<double>(),
              cross + (divergence + entropy) / voxels,
              1e-12);
}

TEST(LossBatch, NamesWhatDoesNotFit) {
  const Sample sample = Draw({5, 6});
  const auto batch =
      [](const Tensor& logits, const Tensor& labels, const std::vector<double>& weights = {}) {
        return [=] { const LossBatch made(logits, labels, weights); };
      };
  ExpectError(
      ErrorCode::kInvalidArgument, {"2, 3", "spatial"}, batch(at::zeros({2, 3}), at::zeros({2})));
  ExpectError(ErrorCode::kInvalidArgument,
              {"2, 5, 7", "2, 5, 6"},
              batch(sample.logits, at::zeros({2, 5, 7}, at::kLong)));
  ExpectError(ErrorCode::kBadData,
              {"label 4", "0 to 3"},
              batch(sample.logits, at::full({2, 5, 6}, 4, at::kLong)));
  ExpectError(ErrorCode::kInvalidArgument,
              {"2 numbers for 4 classes"},
              batch(sample.logits, sample.labels, {1.0, 2.0}));
  ExpectError(ErrorCode::kInvalidArgument,
              {"-1"},
              batch(sample.logits, sample.labels, {1.0, 2.0, -1.0, 0.0}));
}

TEST(MakeLoss, NamesWhatThereIs) {
  const auto make = [](const char* name, const OptionMap& options) {
    return [=] { MakeLoss(name, options); };
  };
  ExpectError(ErrorCode::kInvalidArgument, {"dice", "ce_dice", "nacl"}, make("dice", {}));
  ExpectError(ErrorCode::kInvalidArgument, {"4", "odd"}, make("nacl", {{"patch", "4"}}));
  ExpectError(ErrorCode::kInvalidArgument, {"best", "median"}, make("nacl", {{"prior", "best"}}));
  ExpectError(ErrorCode::kInvalidArgument, {"lam"}, make("ce", {{"lam", "1"}}));
}

}  // namespace
}  // namespace segcal::train
