// SPDX-License-Identifier: Apache-2.0
#include "methods/selective/selective_temperature.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "measures/means.h"
#include "methods/shared/bound_case_pass.h"
#include "methods/shared/reliability.h"

namespace segcal {
namespace {

// Thresholds of the released code (SS11).
constexpr double kGoodRecall = 0.5;
constexpr double kPoorRecall = 0.35;

constexpr int kOracleSteps = 5;

std::vector<double> CandidateTemperatures() {
  std::vector<double> candidates;
  for (double t = 1.0; t < kLargestTemperature; t *= 2.0) candidates.push_back(t);
  candidates.push_back(kLargestTemperature);
  return candidates;
}

// Correctly decided voxels and mispredicted ones.
struct ByCorrectness {
  Reliability correct;
  Reliability wrong;

  static constexpr auto SumFields() {
    return std::tuple(&ByCorrectness::correct, &ByCorrectness::wrong);
  }
  double Error() const {
    Reliability all = correct;
    MergeSums(wrong, &all);
    return all.Error();
  }
};

// What the voxels of one case add up to.
struct StudySums {
  ByCorrectness base;                  // all voxels, not scaled
  ByCorrectness kept;                  // not flagged, at T2
  std::vector<ByCorrectness> flagged;  // at every candidate
  Reliability flat;                    // every misprediction at the largest temperature

  static constexpr auto SumFields() {
    return std::tuple(&StudySums::base, &StudySums::kept, &StudySums::flagged, &StudySums::flat);
  }
  ByCorrectness At(size_t candidate) const {
    ByCorrectness all = kept;
    MergeSums(flagged[candidate], &all);
    return all;
  }
};

// The voxels of a tile as a base has emitted them.
class StudyTile {
 public:
  StudyTile(const Tile& tile, const uint16_t* decision, const uint8_t* flagged, const float* probs)
      : tile_(tile), decision_(decision), flagged_(flagged), probs_(probs) {}

  void AddTo(const std::vector<double>& candidates, double kept_temperature, StudySums* sums) {
    const auto is_kept = [&](int64_t v) { return flagged_[v] == 0; };
    const auto is_flagged = [&](int64_t v) { return flagged_[v] != 0; };
    AddBoth([](int64_t) { return true; }, 1.0, &sums->base);
    AddBoth(is_kept, kept_temperature, &sums->kept);
    for (size_t k = 0; k < candidates.size(); ++k)
      AddBoth(is_flagged, candidates[k], &sums->flagged[k]);
    Add([&](int64_t v) { return !IsCorrect(v); }, kLargestTemperature, &sums->flat);
  }

 private:
  bool IsCorrect(int64_t v) const { return tile_.labels[v] == decision_[v]; }

  template <class Wanted>
  void AddBoth(const Wanted& wanted, double temperature, ByCorrectness* out) {
    Add([&](int64_t v) { return wanted(v) && IsCorrect(v); }, temperature, &out->correct);
    Add([&](int64_t v) { return wanted(v) && !IsCorrect(v); }, temperature, &out->wrong);
  }

  // The wanted ones of the labelled voxels at a temperature.
  template <class Wanted>
  void Add(const Wanted& wanted, double temperature, Reliability* out) {
    float confidence[kTileVoxels];
    uint8_t correct[kTileVoxels];
    int64_t n = 0;
    for (int64_t v = 0; v < tile_.count; ++v) {
      if (tile_.labels[v] == kNoLabel || !wanted(v)) continue;
      confidence[n] = ConfidenceAt(v, temperature);
      correct[n++] = IsCorrect(v) ? 1 : 0;
    }
    out->Add(confidence, correct, n);
  }

  // As emitted (SS8).
  float ConfidenceAt(int64_t v, double temperature) {
    if (temperature == 1.0) return LargestProb(tile_, v, probs_);
    const TileProbs scaled = buffer_.Reserve(tile_.num_classes);
    for (int64_t c = 0; c < tile_.num_classes; ++c) {
      scaled.probs[c * kTileVoxels + v] = probs_[c * kTileVoxels + v];
    }
    ScaleVoxel(tile_, v, temperature, decision_[v], scaled);
    return LargestProb(tile_, v, scaled.probs);
  }

  const Tile& tile_;
  const uint16_t* decision_;
  const uint8_t* flagged_;
  const float* probs_;
  EmitBuffer buffer_;
};

// A share `recall` of the mispredictions moves from where it was to where it is flat (SS12): in
// every bin signed gaps are sums over voxels, so they move in proportion.
double OracleCaseError(const ByCorrectness& base, const Reliability& flat, double recall) {
  double sum = 0.0;
  for (size_t b = 0; b < flat.bins().size(); ++b) {
    sum += std::fabs(base.correct.bins()[b].SignedWeightedGap() +
                     (1.0 - recall) * base.wrong.bins()[b].SignedWeightedGap() +
                     recall * flat.bins()[b].SignedWeightedGap());
  }
  return sum / static_cast<double>(base.correct.count() + base.wrong.count());
}

// Every number of the study for every case, then their means.
class CaseErrors {
 public:
  CaseErrors(size_t num_cases, std::vector<double> candidates)
      : candidates_(std::move(candidates)),
        ece_(candidates_.size(), std::vector<double>(num_cases)),
        correct_(ece_),
        wrong_(ece_),
        base_ece_(num_cases),
        base_correct_(num_cases),
        base_wrong_(num_cases),
        oracle_(kOracleSteps + 1, std::vector<double>(num_cases)) {}

  void Add(size_t c, const StudySums& sums) {
    for (size_t k = 0; k < candidates_.size(); ++k) {
      const ByCorrectness all = sums.At(k);
      ece_[k][c] = all.Error();
      correct_[k][c] = all.correct.Error();
      wrong_[k][c] = all.wrong.Error();
    }
    base_ece_[c] = sums.base.Error();
    base_correct_[c] = sums.base.correct.Error();
    base_wrong_[c] = sums.base.wrong.Error();
    for (size_t r = 0; r < oracle_.size(); ++r)
      oracle_[r][c] = OracleCaseError(sums.base, sums.flat, RecallAt(r));
  }

  SelectiveStudy Means(const StudySums& pooled) const {
    SelectiveStudy study;
    study.base = {.temperature = 1.0,
                  .ece = MeanOfDefined(base_ece_),
                  .pooled_ece = pooled.base.Error(),
                  .correct_ece = MeanOfDefined(base_correct_),
                  .wrong_ece = MeanOfDefined(base_wrong_)};
    for (size_t k = 0; k < candidates_.size(); ++k) {
      study.errors.push_back({.temperature = candidates_[k],
                              .ece = MeanOfDefined(ece_[k]),
                              .pooled_ece = pooled.At(k).Error(),
                              .correct_ece = MeanOfDefined(correct_[k]),
                              .wrong_ece = MeanOfDefined(wrong_[k])});
    }
    for (size_t r = 0; r < oracle_.size(); ++r)
      study.oracle.push_back({.recall = RecallAt(r), .ece = MeanOfDefined(oracle_[r])});
    return study;
  }

 private:
  static double RecallAt(size_t step) { return static_cast<double>(step) / kOracleSteps; }

  std::vector<double> candidates_;
  std::vector<std::vector<double>> ece_;  // [candidate][case]
  std::vector<std::vector<double>> correct_;
  std::vector<std::vector<double>> wrong_;
  std::vector<double> base_ece_;  // [case]
  std::vector<double> base_correct_;
  std::vector<double> base_wrong_;
  std::vector<std::vector<double>> oracle_;  // [step][case]
};

}  // namespace

SelectiveStudy StudyTemperatures(const CaseStream& stream,
                                 const Pooling& pooling,
                                 const Calibrator& base,
                                 const Selector& selector,
                                 double kept_temperature) {
  const std::vector<double> candidates = CandidateTemperatures();
  CaseErrors errors(static_cast<size_t>(stream.num_cases()), candidates);
  StudySums zero;
  zero.flagged.resize(candidates.size());
  StudySums pooled = zero;
  std::mutex mutex;
  const auto add = [&](const Tile& tile, const BoundCalibrator& bound, StudySums* sums) {
    EmitBuffer buffer;
    const TileProbs out = buffer.Reserve(tile.num_classes);
    bound.Apply(tile, out);
    uint8_t flagged[kTileVoxels];
    selector.Flag(tile, flagged);
    BaseDecisions decisions;
    const uint16_t* decision = decisions.Of(tile, base, out.probs);
    StudyTile(tile, decision, flagged, out.probs).AddTo(candidates, kept_temperature, sums);
  };
  const auto end = [&](int64_t c, const StudySums& sums) {
    const std::lock_guard lock(mutex);
    errors.Add(static_cast<size_t>(c), sums);
    MergeSums(sums, &pooled);
  };
  ReduceBoundCases(stream, "choose temperature", pooling, base, zero, add, end);
  return errors.Means(pooled);
}

const SelectiveError& LowestError(const SelectiveStudy& study) {
  return *std::min_element(
      study.errors.begin(), study.errors.end(), [](const auto& a, const auto& b) {
        return a.ece < b.ece;  // the first of equals
      });
}

const SelectiveError& ErrorByRecall(const SelectiveStudy& study, double recall) {
  if (recall > kGoodRecall) return study.errors.back();
  if (!(recall >= kPoorRecall)) return study.errors[1];
  return *std::min_element(
      study.errors.begin() + 1, study.errors.end(), [](const auto& a, const auto& b) {
        return a.pooled_ece < b.pooled_ece;
      });
}

}  // namespace segcal
