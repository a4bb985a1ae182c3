// SPDX-License-Identifier: Apache-2.0
#include "measures/ranked.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace segcal {
namespace {

constexpr int64_t kDigitBits = 11;
constexpr size_t kDigits = size_t{1} << kDigitBits;

// Stable counting sort by one digit.
void SortByDigit(int64_t shift, const std::vector<uint32_t>& from, std::vector<uint32_t>* to) {
  std::array<int64_t, kDigits> start{};
  const auto digit = [&](uint32_t key) { return (key >> shift) & (kDigits - 1); };
  for (const uint32_t key : from) ++start[digit(key)];
  int64_t sum = 0;
  for (int64_t& count : start) sum += std::exchange(count, sum);
  for (const uint32_t key : from) (*to)[static_cast<size_t>(start[digit(key)]++)] = key;
}

std::vector<uint32_t> Sorted(std::vector<uint32_t> keys) {
  // Below this, clearing the counters costs more than comparisons.
  if (keys.size() < kDigits) {
    std::sort(keys.begin(), keys.end());
    return keys;
  }
  std::vector<uint32_t> other(keys.size());
  for (int64_t shift = 0; shift < 32; shift += kDigitBits) {
    SortByDigit(shift, keys, &other);
    keys.swap(other);
  }
  return keys;
}

// Of confidences, in keys that ascend.
size_t CountDistinct(const std::vector<uint32_t>& sorted) {
  size_t count = sorted.empty() ? 0 : 1;
  for (size_t i = 1; i < sorted.size(); ++i)
    count += (sorted[i] >> 1) != (sorted[i - 1] >> 1) ? 1 : 0;
  return count;
}

// 0 below 2^-24, else the leading bits of x in (2^-24, 1/2], from 1 on.
int64_t LowerHalfKey(float x) {
  constexpr int64_t kDropped = 13;  // of 23 bits of mantissa
  if (x < 0x1p-24f) return 0;
  const uint32_t first = std::bit_cast<uint32_t>(0x1p-24f) >> kDropped;
  return static_cast<int64_t>((std::bit_cast<uint32_t>(x) >> kDropped) - first) + 1;
}

// H_{a+m} - H_a, the sum of 1/k for k = a+1 ... a+m: the first terms one by one, many of them by
// the Euler-Maclaurin series, whose first term left out is below 1e-18 from a = 512 on.
double HarmonicDifference(int64_t a, int64_t m) {
  constexpr int64_t kFew = 512;
  if (m <= kFew || a < kFew) {
    const int64_t few = std::min(m, kFew);
    double sum = 0.0;
    for (int64_t k = a + few; k > a; --k) sum += 1.0 / static_cast<double>(k);
    return few == m ? sum : sum + HarmonicDifference(a + few, m - few);
  }
  const auto x = static_cast<double>(a);
  const auto y = static_cast<double>(a + m);
  const double squares = 1.0 / (y * y) - 1.0 / (x * x);
  const double fourths = 1.0 / (y * y * y * y) - 1.0 / (x * x * x * x);
  return std::log1p(static_cast<double>(m) / x) + 0.5 * (1.0 / y - 1.0 / x) - squares / 12.0 +
         fourths / 120.0;
}

// (SL4) over groups in the order given; `positives` of a group are to be found.
template <class Groups, class Positives>
double AveragePrecision(const Groups& groups, const Positives& positives) {
  int64_t seen = 0;
  int64_t found = 0;
  double sum = 0.0;
  for (auto it = groups.first; it != groups.second; ++it) {
    const int64_t here = positives(*it);
    seen += it->count;
    found += here;
    sum += static_cast<double>(here) * static_cast<double>(found) / static_cast<double>(seen);
  }
  return found > 0 && found < seen ? sum / static_cast<double>(found) : std::nan("");
}

int64_t Wrong(const TieGroup& group) { return group.count - group.correct; }

}  // namespace

void RankedValues::Add(float confidence, bool correct) {
  keys_.push_back((std::bit_cast<uint32_t>(confidence) << 1) | (correct ? 1u : 0u));
}

void RankedValues::Merge(const RankedValues& other) {
  const size_t before = keys_.size();
  const size_t more = other.keys_.size();
  keys_.resize(before + more);
  // By index: `other` may be this.
  std::copy_n(other.keys_.begin(), more, keys_.begin() + static_cast<std::ptrdiff_t>(before));
}

void RankedValues::Pack(SumWriter* out) const {
  const std::vector<uint32_t> sorted = Sorted(keys_);
  out->Put(static_cast<int64_t>(sorted.size()));
  for (const uint32_t key : sorted) out->Put(key);
}

void RankedValues::Unpack(SumReader* in) {
  keys_.resize(static_cast<size_t>(in->TakeCount()));
  for (uint32_t& key : keys_) key = in->Take<uint32_t>();
}

std::vector<TieGroup> RankedValues::Groups() const {
  const std::vector<uint32_t> sorted = Sorted(keys_);
  std::vector<TieGroup> groups;
  // A list that grows would for a moment be there three times.
  groups.reserve(CountDistinct(sorted));
  uint32_t last = 0;
  for (const uint32_t key : sorted) {
    if (groups.empty() || key >> 1 != last) {
      last = key >> 1;
      groups.push_back({.confidence = static_cast<double>(std::bit_cast<float>(last))});
    }
    groups.back().count += 1;
    groups.back().correct += key & 1u;
  }
  return groups;
}

int64_t RankKey(float x) {
  if (x <= 0.5f) return LowerHalfKey(x);
  // 1 - x is exact here.
  return kNumRankKeys - 1 - LowerHalfKey(std::max(1.0f - x, 0.0f));
}

void KeyedValues::Add(std::span<const TieGroup> groups) {
  // Groups ascend, so those of one key follow each other: it is looked up once.
  int64_t last = -1;
  Bin* bin = nullptr;
  for (const TieGroup& group : groups) {
    const int64_t key = RankKey(static_cast<float>(group.confidence));
    if (key != last) bin = &keys_[key];
    last = key;
    bin->count += group.count;
    bin->correct += group.correct;
    bin->confidence.Add(group.confidence * static_cast<double>(group.count));
  }
}

std::vector<TieGroup> KeyedValues::Groups() const {
  std::vector<TieGroup> groups;
  for (const auto& [key, bin] : keys_) {
    groups.push_back({.confidence = bin.confidence.value() / static_cast<double>(bin.count),
                      .count = bin.count,
                      .correct = bin.correct});
  }
  return groups;
}

void RankedSums::MergeCase(const RankedSums& other) { pooled_.Add(other.Groups()); }

void RankedSums::Complete() {
  sorted_ = Groups();
  values_ = {};
}

std::vector<TieGroup> RankedSums::Groups() const {
  if (!sorted_.empty()) return sorted_;
  return pooled_.empty() ? values_.Groups() : pooled_.Groups();
}

int64_t CountVoxels(std::span<const TieGroup> groups) {
  int64_t count = 0;
  for (const TieGroup& group : groups) count += group.count;
  return count;
}

int64_t CountWrong(std::span<const TieGroup> groups) {
  int64_t wrong = 0;
  for (const TieGroup& group : groups) wrong += Wrong(group);
  return wrong;
}

double KsError(std::span<const TieGroup> groups) {
  double sum = 0.0;
  double largest = 0.0;
  for (const TieGroup& group : groups) {
    sum += group.confidence * static_cast<double>(group.count) - static_cast<double>(group.correct);
    largest = std::max(largest, std::fabs(sum));
  }
  return groups.empty() ? std::nan("") : largest / static_cast<double>(CountVoxels(groups));
}

double Auroc(std::span<const TieGroup> groups) {
  const int64_t wrong = CountWrong(groups);
  const int64_t right = CountVoxels(groups) - wrong;
  if (wrong == 0 || right == 0) return std::nan("");
  // Twice the pairs in which the right voxel is the more confident one; ties count half.
  __int128 pairs = 0;
  int64_t wrong_below = 0;
  for (const TieGroup& group : groups) {
    pairs += static_cast<__int128>(group.correct) * (2 * wrong_below + Wrong(group));
    wrong_below += Wrong(group);
  }
  return static_cast<double>(pairs) /
         (2.0 * static_cast<double>(wrong) * static_cast<double>(right));
}

double SuccessPrecision(std::span<const TieGroup> groups) {
  return AveragePrecision(std::pair(groups.rbegin(), groups.rend()),
                          [](const TieGroup& group) { return group.correct; });
}

double ErrorPrecision(std::span<const TieGroup> groups) {
  return AveragePrecision(std::pair(groups.begin(), groups.end()), &Wrong);
}

double CorrectError(std::span<const TieGroup> groups) {
  double sum = 0.0;
  int64_t count = 0;
  for (const TieGroup& group : groups) {
    sum += static_cast<double>(group.correct) * (1.0 - group.confidence);
    count += group.correct;
  }
  return count > 0 ? std::fabs(sum) / static_cast<double>(count) : std::nan("");
}

double WrongError(std::span<const TieGroup> groups) {
  double sum = 0.0;
  for (const TieGroup& group : groups) sum += static_cast<double>(Wrong(group)) * group.confidence;
  const int64_t count = CountWrong(groups);
  return count > 0 ? sum / static_cast<double>(count) : std::nan("");
}

double RiskCoverageArea(std::span<const TieGroup> groups) {
  if (groups.empty()) return std::nan("");
  // Within a tie, errors are spread evenly: risk at rank k is (before + rate (k - accepted)) / k.
  double sum = 0.0;
  int64_t accepted = 0;
  int64_t before = 0;
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    const int64_t wrong = Wrong(*group);
    const double rate = static_cast<double>(wrong) / static_cast<double>(group->count);
    const double offset = static_cast<double>(before) - rate * static_cast<double>(accepted);
    sum += static_cast<double>(wrong) + offset * HarmonicDifference(accepted, group->count);
    accepted += group->count;
    before += wrong;
  }
  return std::max(sum, 0.0) / static_cast<double>(accepted);
}

std::vector<RiskRow> RiskCoverage(std::span<const TieGroup> groups, int64_t steps) {
  const int64_t n = CountVoxels(groups);
  std::vector<RiskRow> curve;
  auto group = groups.rbegin();
  int64_t accepted = 0;  // in groups before this one
  int64_t wrong = 0;
  for (int64_t s = 1; s <= steps && n > 0; ++s) {
    // At least one voxel is accepted, and all at coverage 1.
    const int64_t rank =
        std::max<int64_t>(1, static_cast<int64_t>(static_cast<__int128>(n) * s / steps));
    while (accepted + group->count < rank) {
      accepted += group->count;
      wrong += Wrong(*group);
      ++group;
    }
    const double rate = static_cast<double>(Wrong(*group)) / static_cast<double>(group->count);
    const double errors = static_cast<double>(wrong) + rate * static_cast<double>(rank - accepted);
    curve.push_back({.coverage = static_cast<double>(s) / static_cast<double>(steps),
                     .risk = errors / static_cast<double>(rank),
                     .confidence = group->confidence});
  }
  return curve;
}

double MassBin::Gap() const { return std::fabs(confidence - correct) / count; }

std::vector<MassBin> EqualMassBins(std::span<const TieGroup> groups, int64_t num_bins) {
  const int64_t n = CountVoxels(groups);
  std::vector<MassBin> bins(static_cast<size_t>(num_bins));
  const auto end_of = [&](int64_t k) {
    return static_cast<int64_t>(static_cast<__int128>(n) * (k + 1) / num_bins);
  };
  int64_t k = 0;
  int64_t position = 0;
  for (const TieGroup& group : groups) {
    const double rate = static_cast<double>(group.correct) / static_cast<double>(group.count);
    for (int64_t left = group.count; left > 0;) {
      while (end_of(k) <= position) ++k;
      const int64_t taken = std::min(left, end_of(k) - position);
      MassBin& bin = bins[static_cast<size_t>(k)];
      bin.count += static_cast<double>(taken);
      bin.correct += rate * static_cast<double>(taken);
      bin.confidence += group.confidence * static_cast<double>(taken);
      position += taken;
      left -= taken;
    }
  }
  return bins;
}

std::vector<double> Percentiles(std::span<const TieGroup> groups, int64_t num_bins) {
  const int64_t n = CountVoxels(groups);
  std::vector<double> percentiles;
  size_t g = 0;
  int64_t end = n > 0 ? groups[0].count : 0;
  const auto value_at = [&](int64_t rank) {
    while (rank >= end) end += groups[++g].count;
    return groups[g].confidence;
  };
  for (int64_t k = 1; k < num_bins && n > 0; ++k) {
    const __int128 place = static_cast<__int128>(n - 1) * k;
    const auto rank = static_cast<int64_t>(place / num_bins);
    const double rest =
        static_cast<double>(static_cast<int64_t>(place % num_bins)) / static_cast<double>(num_bins);
    const double lower = value_at(rank);
    // Looking ahead moves on by one group at most, which the next percentile is not below.
    const bool at_end = rank + 1 >= end && g + 1 < groups.size();
    const double upper = at_end ? groups[g + 1].confidence : lower;
    percentiles.push_back(lower + (upper - lower) * rest);
  }
  return percentiles;
}

}  // namespace segcal
