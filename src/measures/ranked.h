// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "measures/bins.h"

namespace segcal {

// Voxels of equal confidence. A list of them, ascending, is all that metrics of ranks need, and
// does not depend on the order in which voxels came.
struct TieGroup {
  double confidence = 0.0;  // of each
  int64_t count = 0;
  int64_t correct = 0;
};

// What ranks tell of right and wrong. NaN without any voxel (of the kind a number is about), and
// where a formula needs right and wrong ones and has not both.
struct RankNumbers {
  double ks_error = 0.0;            // (SL2)
  double auroc = 0.0;               // (SL3)
  double success_precision = 0.0;   // (SL4), right voxels to be found
  double error_precision = 0.0;     // (SL4), wrong voxels to be found
  double correct_error = 0.0;       // (SL9)
  double wrong_error = 0.0;         // (SL10)
  double risk_coverage_area = 0.0;  // (SL6)
};
RankNumbers NumbersOfRanks(std::span<const TieGroup> groups);

// The 16-bit key that pooled confidences share: x and 1 - x to 2^-10 of themselves down to 2^-24
// (SL1). Ascending with x.
inline constexpr int64_t kNumRankKeys = 47108;
int64_t RankKey(float x);

// Voxels of many cases by key: the mean confidence of a key stands for its voxels.
class KeyedValues {
 public:
  // What takes groups that ascend: those of one key follow each other, which is looked up once.
  class Adder {
   public:
    explicit Adder(KeyedValues* into) : into_(into) {}
    Adder(const Adder&) = delete;
    Adder& operator=(const Adder&) = delete;
    ~Adder() { EndKey(); }
    void Add(const TieGroup& group);

   private:
    void EndKey();

    KeyedValues* into_;
    int64_t key_ = -1;
    // Of that key, not yet in its bin.
    int64_t count_ = 0;
    int64_t correct_ = 0;
    double confidence_ = 0.0;
  };
  static constexpr auto SumFields() { return std::tuple(&KeyedValues::keys_); }
  std::vector<TieGroup> Groups() const;
  bool empty() const noexcept { return keys_.empty(); }

 private:
  std::map<int64_t, Bin> keys_;
};

// Every confidence of a case with its correctness, 4 bytes each.
class RankedValues {
 public:
  void Add(float confidence, bool correct);
  // The labelled voxels of a tile.
  void AddTile(const float* confidence, const uint16_t* predicted, const int32_t* labels);
  void Merge(const RankedValues& other);
  void Pack(SumWriter* out) const;
  void Unpack(SumReader* in);
  // Linear time. To be called once all are there: what follows then takes no copy.
  void Sort();
  // These take a sorted copy where Sort() has not been called.
  std::vector<TieGroup> Groups() const;
  RankNumbers Numbers() const;
  void AddTo(KeyedValues* pooled) const;
  int64_t size() const noexcept { return static_cast<int64_t>(keys_.size()); }

 private:
  std::vector<uint32_t> keys_;  // bits of the float, then one bit for correct
  bool sorted_ = false;
};

// Values of one case, or once cases were pooled their keys.
class RankedSums {
 public:
  void Add(float confidence, bool correct) { values_.Add(confidence, correct); }
  void AddTile(const float* confidence, const uint16_t* predicted, const int32_t* labels) {
    values_.AddTile(confidence, predicted, labels);
  }
  static constexpr auto SumFields() {
    return std::tuple(&RankedSums::values_, &RankedSums::pooled_);
  }
  // Adds a case that is complete.
  void MergeCase(const RankedSums& other);
  // Sorts once what Groups() would sort at every call; nothing is added after it.
  void Complete() { values_.Sort(); }
  std::vector<TieGroup> Groups() const;
  RankNumbers Numbers() const;

 private:
  RankedValues values_;
  KeyedValues pooled_;
};

int64_t CountVoxels(std::span<const TieGroup> groups);
int64_t CountWrong(std::span<const TieGroup> groups);

// Error rate of the most confident share of the voxels.
struct RiskRow {
  double coverage = 0.0;
  double risk = 0.0;
  double confidence = 0.0;  // of the last voxel accepted
};

// The error rate of the `coverage` most confident share of voxels, for coverages 1/steps ... 1
// (SL5).
std::vector<RiskRow> RiskCoverage(std::span<const TieGroup> groups, int64_t steps);

// Bins of equal mass (AD1); voxels of a tie that an edge cuts are shared out in proportion.
struct MassBin {
  double count = 0.0;
  double correct = 0.0;
  double confidence = 0.0;  // summed

  double Gap() const;
};
std::vector<MassBin> EqualMassBins(std::span<const TieGroup> groups, int64_t num_bins);

// Percentiles 100 k / num_bins, k = 1 ... num_bins - 1, by linear interpolation (AD4).
std::vector<double> Percentiles(std::span<const TieGroup> groups, int64_t num_bins);

}  // namespace segcal
