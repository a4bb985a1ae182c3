// SPDX-License-Identifier: Apache-2.0
#include "methods/selective/selective_temperature.h"

#include <gtest/gtest.h>

#include <cmath>

#include "methods/selective/tell_tale_for_test.h"
#include "tests/support/models.h"

namespace segcal {
namespace {

using testing::FitAs;
using testing::OracleSelector;
using testing::RandomScene;
using testing::Scene;
using testing::TellTale;

constexpr int64_t kClasses = testing::kTellTaleClasses;
constexpr size_t kBins = 10;

Selector TellTaleSelector() { return Selector::FromJson(OracleSelector(), kClasses, "oracle"); }

SelectiveStudy StudyOf(const Scene& scene, const std::string& base) {
  const Model model = FitAs(base, scene);
  return StudyTemperatures(
      *scene.Stream(2), Pooling{}, *ModelAccess::State(model).calibrator, TellTaleSelector());
}

// One voxel of a tell-tale scene, in double.
struct PlainVoxel {
  bool correct = false;
  bool flagged = false;
  std::vector<double> probs;

  double Confidence(double temperature) const {
    double sum = 0.0;
    double largest = 0.0;
    for (const double p : probs) {
      sum += std::pow(p, 1.0 / temperature);
      largest = std::max(largest, std::pow(p, 1.0 / temperature));
    }
    return largest / sum;
  }
};

std::vector<PlainVoxel> PlainVoxels(const Scene& scene, size_t case_index) {
  const auto n = static_cast<size_t>(scene.num_voxels());
  std::vector<PlainVoxel> voxels;
  for (size_t v = 0; v < n; ++v) {
    if (scene.labels[case_index][v] == 255) continue;
    PlainVoxel& voxel = voxels.emplace_back();
    double sum = 0.0;
    size_t best = 0;
    for (size_t c = 0; c < kClasses; ++c) {
      const auto z = static_cast<double>(scene.logits[case_index][0][c * n + v]);
      voxel.probs.push_back(std::exp(z));
      sum += voxel.probs[c];
      if (voxel.probs[c] > voxel.probs[best]) best = c;
    }
    for (double& p : voxel.probs) p /= sum;
    for (const double p : voxel.probs) voxel.flagged = voxel.flagged || std::log(p) < -10.0;
    voxel.correct = scene.labels[case_index][v] == static_cast<int32_t>(best);
  }
  return voxels;
}

// Sums of confidence minus correctness in ten bins.
struct PlainGaps {
  double gap[kBins] = {};
  double count = 0.0;

  void Add(const PlainVoxel& voxel, double temperature, double share = 1.0) {
    const double confidence = voxel.Confidence(temperature);
    const auto bin = static_cast<size_t>(std::ceil(confidence * kBins - 1e-6)) - 1;
    gap[bin] += share * (confidence - (voxel.correct ? 1.0 : 0.0));
    count += share;
  }
  double Error() const {
    double sum = 0.0;
    for (const double g : gap) sum += std::fabs(g);
    return sum / count;
  }
};

// The mean over cases of what `error` says of the voxels of one.
template <class ErrorOfCase>
double MeanOverCases(const Scene& scene, const ErrorOfCase& error) {
  double sum = 0.0;
  for (size_t c = 0; c < scene.logits.size(); ++c) sum += error(PlainVoxels(scene, c));
  return sum / static_cast<double>(scene.logits.size());
}

// Cases of unlike accuracy and number of labels, so that their mean is not that of their voxels.
Scene UnlikeCases() {
  Scene scene = TellTale(/*wrong_share=*/0.4, /*precision=*/0.5);
  const Scene other = TellTale(/*wrong_share=*/0.1, /*precision=*/1.0);
  scene.logits[1] = other.logits[1];
  scene.labels[1] = other.labels[1];
  for (size_t v = 0; v < scene.labels[1].size(); v += 2) scene.labels[1][v] = 255;
  return scene;
}

TEST(SelectiveTemperature, ErrorsAreMeansOfCasesAtEveryCandidate) {
  const Scene scene = UnlikeCases();
  const SelectiveStudy study = StudyOf(scene, "none(z)");
  ASSERT_EQ(study.errors.size(), 35u);  // 1, 2, ..., 2^33, 1e10
  EXPECT_EQ(study.errors.front().temperature, 1.0);
  EXPECT_EQ(study.errors[33].temperature, 0x1p33);
  EXPECT_EQ(study.errors.back().temperature, 1e10);
  for (const size_t k : {0, 1, 2, 3, 6, 34}) {
    const SelectiveError& found = study.errors[k];
    const auto temperature_of = [&](const PlainVoxel& voxel) {
      return voxel.flagged ? found.temperature : 1.0;
    };
    const auto error_of = [&](bool correct, bool wrong) {
      return MeanOverCases(scene, [&](const std::vector<PlainVoxel>& voxels) {
        PlainGaps gaps;
        for (const PlainVoxel& voxel : voxels) {
          if (voxel.correct ? correct : wrong) gaps.Add(voxel, temperature_of(voxel));
        }
        return gaps.Error();
      });
    };
    EXPECT_NEAR(found.ece, error_of(true, true), 1e-6) << found.temperature;
    EXPECT_NEAR(found.correct_ece, error_of(true, false), 1e-6) << found.temperature;
    EXPECT_NEAR(found.wrong_ece, error_of(false, true), 1e-6) << found.temperature;
    PlainGaps pooled;
    for (size_t c = 0; c < scene.logits.size(); ++c) {
      for (const PlainVoxel& voxel : PlainVoxels(scene, c))
        pooled.Add(voxel, temperature_of(voxel));
    }
    EXPECT_NEAR(found.pooled_ece, pooled.Error(), 1e-6) << found.temperature;
    EXPECT_GT(std::fabs(found.pooled_ece - found.ece), 1e-4) << "cases alike: this says little";
  }
}

// The voxels that are not flagged stand at T2; what the base emits is told apart.
TEST(SelectiveTemperature, ErrorsWithATemperatureOfTheOthers) {
  const Scene scene = UnlikeCases();
  constexpr double kKept = 0.5;
  const Model model = FitAs("none(z)", scene);
  const SelectiveStudy study = StudyTemperatures(*scene.Stream(2),
                                                 Pooling{},
                                                 *ModelAccess::State(model).calibrator,
                                                 TellTaleSelector(),
                                                 kKept);
  const auto error_at = [&](double flagged, double kept) {
    return MeanOverCases(scene, [&](const std::vector<PlainVoxel>& voxels) {
      PlainGaps gaps;
      for (const PlainVoxel& voxel : voxels) gaps.Add(voxel, voxel.flagged ? flagged : kept);
      return gaps.Error();
    });
  };
  EXPECT_NEAR(study.errors[2].ece, error_at(4.0, kKept), 1e-6);
  EXPECT_NEAR(study.errors[0].ece, error_at(1.0, kKept), 1e-6);
  EXPECT_NEAR(study.base.ece, error_at(1.0, 1.0), 1e-6);
  EXPECT_GT(std::fabs(study.base.ece - study.errors[0].ece), 1e-3);
  EXPECT_NEAR(study.oracle[0].ece, study.base.ece, 1e-12);
}

// S3 Fig. 4. All found is what a selector that flags all of them and nothing else comes to.
TEST(SelectiveTemperature, OracleErrorsAreThoseOfAShareOfTheMispredictions) {
  const Scene scene = UnlikeCases();
  const SelectiveStudy study = StudyOf(scene, "none(z)");
  ASSERT_EQ(study.oracle.size(), 6u);
  for (const OracleError& found : study.oracle) {
    const double expected = MeanOverCases(scene, [&](const std::vector<PlainVoxel>& voxels) {
      PlainGaps gaps;
      for (const PlainVoxel& voxel : voxels) {
        const double share = voxel.correct ? 0.0 : found.recall;
        gaps.Add(voxel, 1.0, 1.0 - share);
        gaps.Add(voxel, 1e10, share);
      }
      return gaps.Error();
    });
    EXPECT_NEAR(found.ece, expected, 1e-6) << found.recall;
  }
  const SelectiveStudy perfect = StudyOf(TellTale(), "none(z)");
  EXPECT_NEAR(perfect.oracle.front().ece, perfect.errors.front().ece, 1e-12);
  EXPECT_NEAR(perfect.oracle.back().ece, perfect.errors.back().ece, 1e-12);
}

// Flagged voxels are right half of the time, so neither end is best.
TEST(SelectiveTemperature, ChoosesTheLowestErrorAndTheSmallestOfEquals) {
  const SelectiveStudy study = StudyOf(TellTale(/*wrong_share=*/0.4, /*precision=*/0.5), "none(z)");
  const SelectiveError& chosen = LowestError(study);
  EXPECT_GT(chosen.temperature, 2.0);
  EXPECT_LT(chosen.temperature, 1e10);
  for (const SelectiveError& other : study.errors) EXPECT_LE(chosen.ece, other.ece);
  SelectiveStudy equal = study;
  for (SelectiveError& error : equal.errors) error.ece = 0.125;
  EXPECT_EQ(LowestError(equal).temperature, 1.0);
  // What it flags is right: any temperature harms.
  EXPECT_EQ(
      LowestError(StudyOf(TellTale(/*wrong_share=*/0.3, /*precision=*/0.0), "none(z)")).temperature,
      1.0);
}

// (SS11)
TEST(SelectiveTemperature, ChoosesByRecallAsTheReleasedCode) {
  const SelectiveStudy study = StudyOf(UnlikeCases(), "none(z)");
  EXPECT_EQ(ErrorByRecall(study, 0.51).temperature, 1e10);
  EXPECT_EQ(ErrorByRecall(study, 0.34).temperature, 2.0);
  EXPECT_EQ(ErrorByRecall(study, std::nan("")).temperature, 2.0);
  const SelectiveError& between = ErrorByRecall(study, 0.4);
  EXPECT_GT(between.temperature, 1.0);
  for (size_t k = 1; k < study.errors.size(); ++k)
    EXPECT_LE(between.pooled_ece, study.errors[k].pooled_ece);
}

// Emits 0.6f to the bit, except for softmax at voxels that the oracle flags.
class SixTenths final : public PixelCalibrator {
 public:
  Properties properties() const override { return {true, Preserves::kOrder}; }
  ParameterCounts counts(int64_t) const override { return {}; }
  FitOutcome Fit(const FitContext&) override { return {}; }
  Json Parameters() const override { return {}; }
  void SetParameters(const Json&, int64_t, const std::string&) override {}
  void ApplyTile(const Tile& tile, const TileProbs& out) const override {
    for (int64_t v = 0; v < tile.count; ++v) {
      const bool flagged = tile.logits[2 * kTileVoxels + v] < -10.0f;
      const float fixed[] = {0.6f, 0.2f, 0.2f};
      double sum = 0.0;
      for (int64_t c = 0; c < kClasses; ++c) sum += Exp(tile, c, v);
      for (int64_t c = 0; c < kClasses; ++c) {
        out.probs[c * kTileVoxels + v] =
            flagged ? static_cast<float>(Exp(tile, c, v) / sum) : fixed[c];
      }
    }
  }

 private:
  static double Exp(const Tile& tile, int64_t c, int64_t v) {
    return std::exp(static_cast<double>(tile.logits[c * kTileVoxels + v]));
  }
};

// 0.6f is above 0.6 and yet in (0.5, 0.6], as in the metrics. Half of the voxels have it and are
// wrong. The others are flagged and right, in that bin at temperature 4 (0.57), where errors make
// up for each other; at 2 in the next (0.67), at 8 in the one before (0.49).
TEST(SelectiveTemperature, BinsAsTheMetricsDo) {
  Scene scene = RandomScene({.num_cases = 1, .num_classes = kClasses, .shape = {512}});
  for (size_t v = 0; v < 512; ++v) {
    const bool flagged = v >= 256;
    const float logits[] = {1.4f, 0.0f, flagged ? -12.0f : 0.0f};
    for (size_t c = 0; c < kClasses; ++c) scene.logits[0][0][c * 512 + v] = logits[c];
    scene.labels[0][v] = flagged ? 0 : 1;
  }
  const SelectiveStudy study =
      StudyTemperatures(*scene.Stream(2), Pooling{}, SixTenths(), TellTaleSelector());
  EXPECT_EQ(LowestError(study).temperature, 4.0);
  EXPECT_EQ(ErrorByRecall(study, /*recall=*/0.4).temperature, 4.0);
}

}  // namespace
}  // namespace segcal
