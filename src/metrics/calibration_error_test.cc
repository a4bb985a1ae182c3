// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "metrics/tiles_for_test.h"
#include "segcal/error.h"

namespace segcal {
namespace {

using testing::Accumulate;
using testing::RandomVoxels;
using testing::TopLabelBins;
using testing::TopLabelVoxel;
using testing::Value;
using testing::Voxel;

// Index of the only occupied bin of a diagram.
int64_t OccupiedBin(const MetricAccumulator& errors) {
  int64_t occupied = -1;
  const std::vector<ReliabilityRow> bins = TopLabelBins(errors);
  for (size_t k = 0; k < bins.size(); ++k) {
    if (bins[k].count > 0) occupied = static_cast<int64_t>(k);
  }
  return occupied;
}

int64_t BinOf(float confidence, int64_t num_bins) {
  return OccupiedBin(*Accumulate("calibration_error",
                                 {TopLabelVoxel(confidence, true)},
                                 {{"bins", std::to_string(num_bins)}}));
}

// Plain twin of (E3) to (E5): bins found by a linear search over the edges as they are defined.
struct PlainErrors {
  double ece = 0.0;
  double mce = 0.0;
  double ace = 0.0;
};
struct PlainBin {
  long double count = 0, correct = 0, confidence = 0;
  long double Gap() const { return std::fabs(confidence - correct) / count; }
};
PlainErrors PlainTopLabel(const std::vector<Voxel>& voxels, int num_bins, int ace_bins) {
  std::vector<PlainBin> closed(static_cast<size_t>(num_bins));
  std::vector<PlainBin> open(static_cast<size_t>(ace_bins));
  long double total = 0;
  for (const Voxel& voxel : voxels) {
    if (voxel.label == kNoLabel) continue;
    const float x = voxel.Confidence();
    int k = 1;
    while (k < num_bins && x > static_cast<float>(static_cast<double>(k) / num_bins)) ++k;
    int j = 1;
    while (j < ace_bins && static_cast<double>(x) >= (1.0 + 1e-8) / ace_bins * j) ++j;
    for (PlainBin* bin : {&closed[static_cast<size_t>(k - 1)], &open[static_cast<size_t>(j - 1)]}) {
      bin->count += 1;
      bin->correct += voxel.Correct() ? 1 : 0;
      bin->confidence += x;
    }
    total += 1;
  }
  long double ece = 0, mce = 0, ace = 0, non_empty = 0;
  for (const PlainBin& bin : closed) {
    if (bin.count > 0) ece += bin.count / total * bin.Gap();
    if (bin.count > 0) mce = std::max(mce, bin.Gap());
  }
  for (const PlainBin& bin : open) {
    if (bin.count > 0) ace += bin.Gap();
    non_empty += bin.count > 0 ? 1 : 0;
  }
  return {static_cast<double>(ece), static_cast<double>(mce), static_cast<double>(ace / non_empty)};
}

TEST(CalibrationError, MatchesTheWorkedExample) {
  const float confidence[] = {.78f, .64f, .92f, .58f, .51f, .85f, .70f, .63f, .83f};
  const bool correct[] = {true, true, false, true, false, true, true, false, true};
  std::vector<Voxel> voxels;
  for (size_t i = 0; i < 9; ++i) voxels.push_back(TopLabelVoxel(confidence[i], correct[i]));
  const auto errors = Accumulate("calibration_error", voxels, {{"bins", "5"}, {"ace_bins", "5"}});
  EXPECT_NEAR(Value(*errors, "ace"), 0.1025, 1e-7);
  EXPECT_NEAR(Value(*errors, "ece"), 0.94 / 9.0, 1e-7);
  EXPECT_NEAR(Value(*errors, "mce"), 0.2, 1e-7);
  const double gaps[] = {0.045, 0.0625, 0.2};
  const std::vector<ReliabilityRow> bins = TopLabelBins(*errors);
  for (size_t k = 2; k < 5; ++k) {
    const double mean = bins[k].confidence_sum / static_cast<double>(bins[k].count);
    const double accuracy =
        static_cast<double>(bins[k].correct) / static_cast<double>(bins[k].count);
    EXPECT_NEAR(std::fabs(mean - accuracy), gaps[k - 2], 1e-7);
  }
}

TEST(CalibrationError, OneBinIsGapBetweenConfidenceAndAccuracy) {
  const auto errors = Accumulate("calibration_error",
                                 {TopLabelVoxel(0.875f, true),
                                  TopLabelVoxel(0.75f, true),
                                  TopLabelVoxel(0.75f, false),
                                  TopLabelVoxel(0.625f, false)},
                                 {{"bins", "1"}, {"ace_bins", "1"}});
  for (const char* name : {"ece", "mce", "ace"}) EXPECT_EQ(Value(*errors, name), 0.25) << name;
}

TEST(CalibrationError, MatchesPlainTwinOnRandomVoxels) {
  for (const int64_t num_classes : {1, 2, 7}) {
    const std::vector<Voxel> voxels = RandomVoxels(/*seed=*/21, 5003, num_classes);
    for (const int num_bins : {1, 3, 15, 50, 1000}) {
      const std::string text = std::to_string(num_bins);
      const auto errors =
          Accumulate("calibration_error", voxels, {{"bins", text}, {"ace_bins", text}});
      const PlainErrors plain = PlainTopLabel(voxels, num_bins, num_bins);
      EXPECT_NEAR(Value(*errors, "ece"), plain.ece, 1e-12) << num_bins;
      EXPECT_NEAR(Value(*errors, "mce"), plain.mce, 1e-12) << num_bins;
      EXPECT_NEAR(Value(*errors, "ace"), plain.ace, 1e-12) << num_bins;
    }
  }
}

// Confidences on every edge and one float32 to either side, alternately right and wrong.
TEST(CalibrationError, MatchesPlainTwinOnBinEdgesAndTheirNeighbours) {
  std::vector<Voxel> voxels;
  for (const int num_bins : {15, 50}) {
    for (int k = 0; k <= num_bins; ++k) {
      const float edge = static_cast<float>(static_cast<double>(k) / num_bins);
      for (const float x : {std::nextafter(edge, 0.0f), edge, std::nextafter(edge, 1.0f)}) {
        voxels.push_back(TopLabelVoxel(x, (voxels.size() * 7 / 3) % 2 == 0));
      }
    }
  }
  const auto errors = Accumulate("calibration_error", voxels);
  const PlainErrors plain = PlainTopLabel(voxels, 50, 15);
  EXPECT_NEAR(Value(*errors, "ece"), plain.ece, 1e-14);
  EXPECT_NEAR(Value(*errors, "mce"), plain.mce, 1e-14);
  EXPECT_NEAR(Value(*errors, "ace"), plain.ace, 1e-14);
}

TEST(CalibrationError, BinsAreClosedAbove) {
  for (const int64_t num_bins : {10, 15, 50}) {
    for (int64_t k = 1; k <= num_bins; ++k) {
      const auto edge = static_cast<float>(static_cast<double>(k) / static_cast<double>(num_bins));
      EXPECT_EQ(BinOf(edge, num_bins), k - 1) << k << "/" << num_bins;
      EXPECT_EQ(BinOf(std::nextafter(edge, 0.0f), num_bins), k - 1) << k << "/" << num_bins;
      EXPECT_EQ(BinOf(std::nextafter(edge, 2.0f), num_bins), std::min(k, num_bins - 1))
          << k << "/" << num_bins;
    }
    EXPECT_EQ(BinOf(0.0f, num_bins), 0);
  }
}

// ace takes [lo, hi): 0.5 + 5e-9 is its edge of two bins, so 0.5 lies below and the next float
// above.
TEST(CalibrationError, AverageErrorBinsAreOpenAboveAndComparedInDouble) {
  const auto ace = [](float x) {
    return Value(*Accumulate("calibration_error",
                             {TopLabelVoxel(x, true), TopLabelVoxel(0.25f, false)},
                             {{"ace_bins", "2"}}),
                 "ace");
  };
  EXPECT_EQ(ace(0.5f), std::fabs(0.75 - 1.0) / 2.0);  // same bin
  const float above = std::nextafter(0.5f, 1.0f);
  const double gap = 1.0 - static_cast<double>(above);
  EXPECT_EQ(ace(above), (gap + 0.25) / 2.0);  // two bins
  EXPECT_EQ(ace(1.0f), (0.0 + 0.25) / 2.0);   // exactly 1 is in the last bin
}

TEST(CalibrationError, TopLabelOfATieIsTheLowestClass) {
  const auto errors =
      Accumulate("calibration_error",
                 {{.probs = {0.5f, 0.5f}, .label = 0}, {.probs = {0.5f, 0.5f}, .label = 1}});
  EXPECT_EQ(Value(*errors, "ece"), 0.0);
  EXPECT_EQ(TopLabelBins(*errors)[24].correct, 1);
}

TEST(CalibrationError, IgnoredVoxelsTakeNoPart) {
  std::vector<Voxel> voxels = RandomVoxels(/*seed=*/3, 700, 4);
  std::vector<Voxel> labelled;
  for (const Voxel& voxel : voxels) {
    if (voxel.label != kNoLabel) labelled.push_back(voxel);
  }
  ASSERT_LT(labelled.size(), voxels.size());
  EXPECT_EQ(testing::Bits(*Accumulate("calibration_error", voxels)),
            testing::Bits(*Accumulate("calibration_error", labelled)));
}

TEST(CalibrationError, DiagramCoversTheUnitIntervalWithoutHoles) {
  const auto errors = Accumulate("calibration_error", RandomVoxels(/*seed=*/5, 600, 3));
  const std::vector<ReliabilityRow> bins = TopLabelBins(*errors);
  ASSERT_EQ(bins.size(), 50u);
  EXPECT_EQ(bins.front().lower, 0.0);
  EXPECT_EQ(bins.back().upper, 1.0);
  for (size_t k = 1; k < bins.size(); ++k) EXPECT_EQ(bins[k].lower, bins[k - 1].upper);
}

// Counters of one bin as libraries keep them that count voxels in float32.
struct FloatBin {
  float count = 0.0f, correct = 0.0f, confidence = 0.0f;
  void Add(const FloatBin& other) {
    count += other.count;
    correct += other.correct;
    confidence += other.confidence;
  }
  float Gap() const { return std::fabs(confidence / count - correct / count); }
};

// 2^34 voxels of confidence 3/4, three in four correct, and one more that is wrong: all in one bin,
// whose gap is that one voxel's, (3/4) / (2^34 + 1).
TEST(CalibrationError, CountsAndErrorsStayExactPastTwoToThe33InOneBin) {
  const Voxel right = TopLabelVoxel(0.75f, true);
  const Voxel wrong = TopLabelVoxel(0.75f, false);
  auto errors = Accumulate("calibration_error", {right, right, right, wrong});
  testing::Double(errors.get(), 32);
  errors->Merge(*Accumulate("calibration_error", {wrong}));

  const int64_t count = (int64_t{1} << 34) + 1;
  const ReliabilityRow bin = TopLabelBins(*errors)[37];
  EXPECT_EQ(bin.count, count);
  EXPECT_EQ(bin.correct, int64_t{3} << 32);
  EXPECT_EQ(bin.confidence_sum, 0.75 * static_cast<double>(count));
  const double expected = 0.75 / static_cast<double>(count);
  for (const char* name : {"ece", "mce", "ace"}) EXPECT_EQ(Value(*errors, name), expected) << name;

  FloatBin counters{.count = 4.0f, .correct = 3.0f, .confidence = 3.0f};
  for (int i = 0; i < 32; ++i) counters.Add(FloatBin(counters));
  counters.Add({.count = 1.0f, .correct = 0.0f, .confidence = 0.75f});
  EXPECT_NE(static_cast<int64_t>(counters.count), count);
  EXPECT_EQ(counters.Gap(), 0.0f);
}

// Past 2^24, float32 counters lose every voxel that arrives alone.
TEST(CalibrationError, SingleVoxelsStillCountPastTwoToThe24) {
  const auto wrong = Accumulate("calibration_error", {TopLabelVoxel(1.0f, false)});
  auto errors = Accumulate("calibration_error", {TopLabelVoxel(1.0f, true)});
  testing::Double(errors.get(), 24);
  FloatBin counters{.count = 0x1p24f, .correct = 0x1p24f, .confidence = 0x1p24f};
  for (int i = 0; i < 1000; ++i) {
    errors->Merge(*wrong);
    counters.Add({.count = 1.0f, .correct = 0.0f, .confidence = 1.0f});
  }
  EXPECT_EQ(Value(*errors, "ece"), 1000.0 / (0x1p24 + 1000.0));
  EXPECT_EQ(counters.Gap(), 0.0f);
}

TEST(CalibrationError, RefusesImpossibleBinCounts) {
  for (const char* bins : {"0", "-3", "100000", "many"}) {
    EXPECT_THROW(Accumulate("calibration_error", {}, {{"bins", bins}}), Error) << bins;
  }
}

// The case in which each convention differs from its neighbours.
struct PresetCase {
  const char* preset;
  size_t num_bins;
  float confidence;  // of one right voxel
  int64_t bin;       // where it goes, -1 for none
};

class EveryBinPreset : public ::testing::TestWithParam<PresetCase> {};

TEST_P(EveryBinPreset, PutsItsDistinguishingValueWhereTheLibraryDoes) {
  const PresetCase& known = GetParam();
  const auto errors = Accumulate(
      "calibration_error", {TopLabelVoxel(known.confidence, true)}, {{"preset", known.preset}});
  EXPECT_EQ(TopLabelBins(*errors).size(), known.num_bins);
  EXPECT_EQ(OccupiedBin(*errors), known.bin);
}

const float kFifth = static_cast<float>(3.0 / 15.0);
INSTANTIATE_TEST_SUITE_P(Conventions,
                         EveryBinPreset,
                         ::testing::Values(PresetCase{"paper", 50, 0.5f, 24},
                                           PresetCase{"guo", 15, kFifth, 2},
                                           PresetCase{"guo", 15, 0.0f, -1},
                                           PresetCase{"torchmetrics", 16, kFifth, 3},
                                           PresetCase{"torchmetrics", 16, 1.0f, 15},
                                           PresetCase{"netcal", 10, 0.5f, 5},
                                           PresetCase{"netcal", 10, 1.0f, 9},
                                           PresetCase{"monai", 20, 0.5f, 9},
                                           PresetCase{"monai", 20, std::nextafter(0.5f, 1.0f), 9},
                                           PresetCase{"monai", 20, 0.0f, 0},
                                           PresetCase{"values", 20, 0.5f, 9},
                                           PresetCase{"values", 20, std::nextafter(0.5f, 1.0f), 10},
                                           PresetCase{"values", 20, 1.0f, 19}));

// Guo's code divides by all voxels, the dropped one too.
TEST(CalibrationError, DroppedZerosStillWeigh) {
  const std::vector<Voxel> voxels = {TopLabelVoxel(0.0f, false), TopLabelVoxel(0.75f, false)};
  EXPECT_EQ(Value(*Accumulate("calibration_error", voxels, {{"preset", "guo"}}), "ece"), 0.375);
}

// 1 apart from 0.95: two gaps where one bin would have cancelled them.
TEST(CalibrationError, OneApartKeepsCertainVoxelsFromCancelling) {
  const std::vector<Voxel> voxels = {TopLabelVoxel(0.9375f, true), TopLabelVoxel(1.0f, false)};
  const auto ece = [&](const char* preset) {
    return Value(*Accumulate("calibration_error", voxels, {{"preset", preset}}), "ece");
  };
  EXPECT_EQ(ece("guo"), (1.9375 - 1.0) / 2.0);
  EXPECT_EQ(ece("torchmetrics"), (0.0625 + 1.0) / 2.0);
}

TEST(CalibrationError, NormChoosesHowGapsAreCombined) {
  const std::vector<Voxel> voxels = RandomVoxels(/*seed=*/6, 2000, 3);
  const auto with = [&](const char* norm) {
    return Accumulate("calibration_error", voxels, {{"norm", norm}});
  };
  const auto mean = with("mean");
  EXPECT_EQ(Value(*with("rms"), "ece"), Value(*mean, "rms_ce"));
  EXPECT_EQ(Value(*with("max"), "ece"), Value(*mean, "mce"));
  EXPECT_LT(Value(*mean, "ece"), Value(*mean, "rms_ce"));
  EXPECT_LT(Value(*mean, "debiased_ece"), Value(*mean, "rms_ce"));
}

// Bins by class cannot cancel gaps of different classes: 0.75 right as class 0 and wrong as
// class 1.
TEST(CalibrationError, BinsByPredictedClassDoNotCancel) {
  const std::vector<Voxel> voxels = {{.probs = {0.5f, 0.25f, 0.25f}, .label = 0},
                                     {.probs = {0.25f, 0.5f, 0.25f}, .label = 0}};
  const auto errors = Accumulate("calibration_error", voxels);
  EXPECT_EQ(Value(*errors, "ece"), 0.0);
  const MetricValue by_class = testing::Number(*errors, "sce_s2");
  EXPECT_EQ(by_class.value, 0.5);
  EXPECT_EQ(by_class.per_class[0], 0.25);
  EXPECT_TRUE(std::isnan(by_class.per_class[2]));  // never predicted
}

TEST(CalibrationError, ForegroundLeavesOutVoxelsLabelledBackground) {
  std::vector<Voxel> voxels = RandomVoxels(/*seed=*/9, 800, 3);
  std::vector<Voxel> foreground;
  for (const Voxel& voxel : voxels) {
    if (voxel.label != 1) foreground.push_back(voxel);
  }
  EXPECT_EQ(testing::Bits(*Accumulate(
                "calibration_error", voxels, {{"foreground", "true"}}, /*background=*/1)),
            testing::Bits(*Accumulate("calibration_error", foreground)));
}

// Labels drawn from the confidences: chance alone makes rms_ce large, and little of debiased_ece.
TEST(CalibrationError, DebiasingRemovesWhatChanceAdds) {
  double biased = 0.0, debiased = 0.0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed, 7);
    std::vector<Voxel> voxels;
    for (int i = 0; i < 400; ++i) {
      const auto x = static_cast<float>(0.5 + 0.5 * rng.Uniform());
      voxels.push_back(TopLabelVoxel(x, rng.Uniform() < static_cast<double>(x)));
    }
    const auto errors = Accumulate("calibration_error", voxels);
    biased += std::pow(Value(*errors, "rms_ce"), 2) / 40.0;
    debiased += std::pow(Value(*errors, "debiased_ece"), 2) / 40.0;
  }
  EXPECT_LT(debiased, 0.2 * biased);
}

// Cells are sufficient: the bins of any supported rule, from the cells alone.
TEST(CalibrationError, CellsGiveTheNumbersOfOtherBins) {
  const std::vector<Voxel> voxels = RandomVoxels(/*seed=*/10, 3000, 4);
  const auto fine = Accumulate("calibration_error", voxels);
  const auto coarse = Accumulate("calibration_error", voxels, {{"bins", "12"}});
  std::vector<PlainBin> bins(12);
  long double total = 0;
  for (const CellRow& cell : fine->Cells()) {
    const double inside = cell.lower + 1e-9;  // cells do not cross the edges k/12
    PlainBin& bin = bins[std::min<size_t>(11, static_cast<size_t>(inside * 12.0))];
    bin.count += cell.count;
    bin.correct += cell.correct;
    bin.confidence += cell.confidence_sum;
    total += cell.count;
  }
  long double ece = 0;
  for (const PlainBin& bin : bins) {
    if (bin.count > 0) ece += bin.count / total * bin.Gap();
  }
  EXPECT_NEAR(Value(*coarse, "ece"), static_cast<double>(ece), 1e-9);
}

}  // namespace
}  // namespace segcal
