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

constexpr size_t kOracleSteps = 5;

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
  explicit CaseErrors(std::vector<double> candidates) : candidates_(std::move(candidates)) {}

  // Of one case: whole, correct and wrong of every candidate, the same of the base, the oracle's.
  std::vector<double> Of(const StudySums& sums) const {
    std::vector<double> errors;
    const auto add = [&](const ByCorrectness& all) {
      for (const double error : {all.Error(), all.correct.Error(), all.wrong.Error()})
        errors.push_back(error);
    };
    for (size_t k = 0; k < candidates_.size(); ++k) add(sums.At(k));
    add(sums.base);
    for (size_t r = 0; r <= kOracleSteps; ++r)
      errors.push_back(OracleCaseError(sums.base, sums.flat, RecallAt(r)));
    return errors;
  }

  SelectiveStudy Means(const std::vector<std::vector<double>>& cases,
                       const StudySums& pooled) const {
    const auto error = [&](size_t k, double temperature, const ByCorrectness& all) {
      return SelectiveError{.temperature = temperature,
                            .ece = Mean(cases, 3 * k),
                            .pooled_ece = all.Error(),
                            .correct_ece = Mean(cases, 3 * k + 1),
                            .wrong_ece = Mean(cases, 3 * k + 2)};
    };
    const size_t n = candidates_.size();
    SelectiveStudy study;
    study.base = error(n, 1.0, pooled.base);
    for (size_t k = 0; k < n; ++k) study.errors.push_back(error(k, candidates_[k], pooled.At(k)));
    for (size_t r = 0; r <= kOracleSteps; ++r)
      study.oracle.push_back({.recall = RecallAt(r), .ece = Mean(cases, 3 * (n + 1) + r)});
    return study;
  }

 private:
  static double RecallAt(size_t step) { return static_cast<double>(step) / kOracleSteps; }

  static double Mean(const std::vector<std::vector<double>>& cases, size_t place) {
    std::vector<double> values;
    for (const std::vector<double>& errors : cases) values.push_back(errors[place]);
    return MeanOfDefined(values);
  }

  std::vector<double> candidates_;
};

}  // namespace

SelectiveStudy StudyTemperatures(const CaseStream& stream,
                                 const Pooling& pooling,
                                 const Calibrator& base,
                                 const Selector& selector,
                                 double kept_temperature) {
  const std::vector<double> candidates = CandidateTemperatures();
  const CaseErrors errors(candidates);
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
  const auto end = [&](int64_t, const StudySums& sums) {
    const std::unique_lock lock(mutex);
    MergeSums(sums, &pooled);
    return errors.Of(sums);
  };
  const auto cases = ReduceBoundCases(stream, "choose temperature", pooling, base, zero, add, end);
  if (NumRanks() > 1) {
    pooled = JoinRanks(
        "choose temperature of all cases", nullptr, [&] { return zero; }, std::move(pooled));
  }
  return errors.Means(cases, pooled);
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
