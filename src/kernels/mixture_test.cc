// SPDX-License-Identifier: Apache-2.0
#include "kernels/mixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/reference_for_test.h"
#include "kernels/tiles_for_test.h"

namespace segcal {
namespace {

constexpr int64_t kMixtureClassCounts[] = {1, 2, 3, 19, 65, 200};

const std::vector<Mixture>& Mixtures() {
  static const std::vector<Mixture> list = {{.beta = 0.7, .weights = {0.5, 0.3, 0.2}},
                                            {.beta = 1.9, .weights = {0.2, 0.8, 0.0}},
                                            {.beta = 1.0 / 3.0, .weights = {1.0, 0.0, 0.0}},
                                            {.beta = 0.4, .weights = {0.0, 1.0, 0.0}},
                                            {.beta = 1e-6, .weights = {0.0, 0.0, 1.0}},
                                            {.beta = 1e3, .weights = {0.999, 0.0, 0.001}},
                                            {.beta = 1e6, .weights = {1.0, 0.0, 0.0}}};
  return list;
}

std::string Name(const Mixture& m, const std::string& target, int64_t num_classes) {
  return target + " C " + std::to_string(num_classes) + " beta " + std::to_string(m.beta) +
         " weights " + std::to_string(m.weights[0]) + " " + std::to_string(m.weights[1]);
}

// The bound stated in mixture.h.
TEST(MixtureSums, AgreeWithReferenceOverClassesMixturesAndSpreads) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : kMixtureClassCounts) {
      for (const double spread : {0.5, 6.0, 30.0, 87.0}) {
        const RandomTile random(21, num_classes, 251, spread);
        for (const Mixture& mixture : Mixtures()) {
          SCOPED_TRACE(Name(mixture, target, num_classes) + " spread " + std::to_string(spread));
          MixtureSums fast;
          AddMixtureSums(random.tile, mixture, &fast);
          const reference::MixtureResult exact = reference::Mixtures(random.tile, mixture);
          EXPECT_EQ(fast.count, exact.sums.count);
          const double tolerance = 1e-7 * static_cast<double>(num_classes + 30);
          for (int k = 0; k < kMixtureTerms; ++k) {
            EXPECT_NEAR(
                fast.terms[k], exact.sums.terms[k], tolerance * exact.scale.terms[k] + 1e-30)
                << "term " << k;
          }
        }
      }
    }
  });
}

// Property: the sums are the derivatives that the page says, by central differences of the loss of
// the scalar twin, which is in double throughout.
TEST(MixtureSums, AreTheDerivativesOfTheLoss) {
  const RandomTile random(5, 6, 200, 8.0);
  const Mixture at{.beta = 0.6, .weights = {0.5, 0.3, 0.2}};
  const auto sums = [&](const Mixture& m) { return reference::Mixtures(random.tile, m).sums; };
  const MixtureSums middle = sums(at);
  const double h = 1e-5;
  for (int k = 0; k < 3; ++k) {
    Mixture low = at;
    Mixture high = at;
    low.weights[k] -= h;
    high.weights[k] += h;
    const MixtureSums below = sums(low);
    const MixtureSums above = sums(high);
    const auto slope = [&](int term) { return (above.terms[term] - below.terms[term]) / (2 * h); };
    EXPECT_NEAR(slope(kMixtureLoss), -middle.terms[kMixtureR0 + k], 1e-4) << k;
    EXPECT_NEAR(slope(kMixtureR0), -middle.terms[kMixtureR00 + k], 1e-3) << k;
    EXPECT_NEAR(slope(kMixtureD), -middle.terms[kMixtureD0 + k], 1e-2) << k;
  }
  Mixture low = at;
  Mixture high = at;
  low.beta -= h;
  high.beta += h;
  const MixtureSums below = sums(low);
  const MixtureSums above = sums(high);
  const auto slope = [&](int term) { return (above.terms[term] - below.terms[term]) / (2 * h); };
  const double w = at.weights[0];
  EXPECT_NEAR(slope(kMixtureLoss), -w * middle.terms[kMixtureD], 1e-4);
  EXPECT_NEAR(slope(kMixtureR2), -w * middle.terms[kMixtureD2], 1e-3);
  EXPECT_NEAR(slope(kMixtureD), middle.terms[kMixtureBend] - w * middle.terms[kMixtureDD], 1e-2);
}

TEST(MixtureSums, AreZeroWithoutLabels) {
  RandomTile random(8, 5, 100, 20.0);
  std::fill_n(random.labels.data(), kTileVoxels, kNoLabel);
  MixtureSums sums;
  AddMixtureSums(random.tile, {.beta = 0.5, .weights = {0.5, 0.5, 0.0}}, &sums);
  EXPECT_EQ(sums.count, 0);
  for (const double term : sums.terms) EXPECT_EQ(term, 0.0);
}

// A label with logit -87 at beta = 100: its probability is exp(-8700), the loss still finite.
TEST(MixtureSums, KeepTheLossOfImpossibleLabels) {
  ForEveryTarget([](const std::string& target) {
    RandomTile random(1, 2, 1, 1.0);
    random.logits[0] = 0.0f;
    random.logits[kTileVoxels] = -87.0f;
    random.labels[0] = 1;
    MixtureSums sums;
    AddMixtureSums(random.tile, {.beta = 100.0, .weights = {1.0, 0.0, 0.0}}, &sums);
    EXPECT_NEAR(sums.terms[kMixtureLoss], 8700.0, 1e-3) << target;
    EXPECT_EQ(sums.terms[kMixtureR2], kMixtureRatioCap) << target;
    EXPECT_EQ(sums.terms[kMixtureR22], kMixtureSecondCap * kMixtureSecondCap) << target;
  });
}

TEST(MixtureTile, AgreesWithReference) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : kMixtureClassCounts) {
      const RandomTile random(3, num_classes, 251, 30.0);
      AlignedArray<float> probs(num_classes * kTileVoxels);
      AlignedArray<float> log_label(kTileVoxels);
      for (const Mixture& mixture : Mixtures()) {
        SCOPED_TRACE(Name(mixture, target, num_classes));
        MixtureTile(random.tile, mixture, {probs.data(), log_label.data()});
        for (int64_t v = 0; v < 251; ++v) {
          const std::vector<double> exact = reference::MixtureProbs(random.tile, mixture, v);
          double sum = 0.0;
          for (int64_t c = 0; c < num_classes; ++c) {
            const double q = static_cast<double>(probs[c * kTileVoxels + v]);
            const auto wanted = exact[static_cast<size_t>(c)];
            const double bu =
                mixture.beta * static_cast<double>(-random.logits[c * kTileVoxels + v]);
            const double ulps = static_cast<double>(num_classes) / 4.0 + 8.0 + 2.0 * (bu + 30.0);
            ASSERT_NEAR(q, wanted, ulps * 0x1p-24 * wanted + 0x1p-124) << v;
            sum += q;
          }
          ASSERT_NEAR(sum, 1.0, static_cast<double>(num_classes + 8) * 0x1p-24) << v;
          const int32_t label = random.labels[v];
          if (label == kNoLabel) {
            ASSERT_EQ(log_label[v], 0.0f);
          } else if (exact[static_cast<size_t>(label)] > 1e-300) {
            const double wanted = std::log(exact[static_cast<size_t>(label)]);
            const double tolerance = 1e-7 * static_cast<double>(num_classes + 30);
            ASSERT_NEAR(log_label[v], wanted, tolerance * (1.0 + std::fabs(wanted))) << v;
          }
        }
      }
    }
  });
}

TEST(MixtureTile, NeverInvertsTheOrderOfTwoClasses) {
  ForEveryTarget([](const std::string& target) {
    RandomTile random(17, 7, kTileVoxels, 3.0);
    // Below the largest, neighbouring floats, so that rounding has something to break.
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      for (int64_t c = 1; c < 6; ++c) {
        random.logits[c * kTileVoxels + v] =
            std::nextafter(random.logits[(c - 1) * kTileVoxels + v], -100.0f);
      }
      random.logits[6 * kTileVoxels + v] = 0.0f;
    }
    AlignedArray<float> probs(7 * kTileVoxels);
    AlignedArray<float> log_label(kTileVoxels);
    for (const Mixture& mixture : Mixtures()) {
      MixtureTile(random.tile, mixture, {probs.data(), log_label.data()});
      for (int64_t c = 1; c < 6; ++c) {
        for (int64_t v = 0; v < kTileVoxels; ++v) {
          ASSERT_GE(probs[(c - 1) * kTileVoxels + v], probs[c * kTileVoxels + v]) << target;
        }
      }
    }
  });
}

}  // namespace
}  // namespace segcal
