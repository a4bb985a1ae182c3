// SPDX-License-Identifier: Apache-2.0
#include "measures/ranked.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "core/check.h"
#include "kernels/tile.h"

namespace segcal {
namespace {

constexpr int kDigitBits = 11;
constexpr size_t kDigits = size_t{1} << kDigitBits;

// Stable counting sorts by the digits of key - lowest, the last one first. Confidences of a case
// span few bits: three digits, which are counted in one go, are mostly enough.
class DigitSort {
 public:
  explicit DigitSort(const std::vector<uint32_t>& keys) {
    const auto [lowest, highest] = std::minmax_element(keys.begin(), keys.end());
    lowest_ = *lowest;
    const int bits = std::bit_width(*highest - lowest_);
    num_digits_ = std::max(1, (bits + kDigitBits - 1) / kDigitBits);
    digit_bits_ = (bits + num_digits_ - 1) / num_digits_;
    for (const uint32_t key : keys) {
      for (int k = 0; k < num_digits_; ++k) ++start_[k][Digit(key, k)];
    }
    for (int k = 0; k < num_digits_; ++k) {
      uint32_t sum = 0;
      for (uint32_t& count : start_[k]) sum += std::exchange(count, sum);
    }
  }

  // `other` is scratch of the same size.
  void Run(std::vector<uint32_t>* keys, std::vector<uint32_t>* other) {
    for (int k = 0; k < num_digits_; ++k) {
      for (const uint32_t key : *keys) (*other)[start_[k][Digit(key, k)]++] = key;
      keys->swap(*other);
    }
  }

 private:
  size_t Digit(uint32_t key, int k) const {
    return ((key - lowest_) >> (k * digit_bits_)) & ((size_t{1} << digit_bits_) - 1);
  }

  uint32_t lowest_ = 0;
  int num_digits_ = 0;
  int digit_bits_ = 0;
  std::array<std::array<uint32_t, kDigits>, 3> start_{};
};

void SortKeys(std::vector<uint32_t>* keys) {
  // Below, clearing the counters costs more than comparisons; above, they would not count.
  constexpr size_t kMost = std::numeric_limits<uint32_t>::max();
  if (keys->size() < kDigits || keys->size() > kMost) {
    std::sort(keys->begin(), keys->end());
    return;
  }
  std::vector<uint32_t> other(keys->size());
  DigitSort(*keys).Run(keys, &other);
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

int64_t Wrong(const TieGroup& group) { return group.count - group.correct; }

// (SL4) of groups in the order they are added; some voxels of each are to be found.
class AveragePrecision {
 public:
  void Add(int64_t count, int64_t to_find) {
    seen_ += count;
    if (to_find == 0) return;
    found_ += to_find;
    sum_ += static_cast<double>(to_find) * static_cast<double>(found_) / static_cast<double>(seen_);
  }
  double value() const {
    return found_ > 0 && found_ < seen_ ? sum_ / static_cast<double>(found_) : std::nan("");
  }

 private:
  int64_t seen_ = 0;
  int64_t found_ = 0;
  double sum_ = 0.0;
};

// What is summed from low confidence to high.
class AscendingSums {
 public:
  void Add(const TieGroup& group) {
    const auto correct = static_cast<double>(group.correct);
    const int64_t wrong = Wrong(group);
    gap_ += group.confidence * static_cast<double>(group.count) - correct;
    largest_gap_ = std::max(largest_gap_, std::fabs(gap_));
    pairs_ += static_cast<__int128>(group.correct) * (2 * wrong_ + wrong);
    to_error_.Add(group.count, wrong);
    doubt_ += correct * (1.0 - group.confidence);
    wrong_confidence_ += static_cast<double>(wrong) * group.confidence;
    correct_ += group.correct;
    wrong_ += wrong;
  }

  void Finish(RankNumbers* numbers) const {
    const auto right = static_cast<double>(correct_);
    const auto wrong = static_cast<double>(wrong_);
    const double nan = std::nan("");
    const int64_t total = correct_ + wrong_;
    numbers->ks_error = total > 0 ? largest_gap_ / static_cast<double>(total) : nan;
    numbers->auroc =
        correct_ > 0 && wrong_ > 0 ? static_cast<double>(pairs_) / (2.0 * wrong * right) : nan;
    numbers->error_precision = to_error_.value();
    numbers->correct_error = correct_ > 0 ? std::fabs(doubt_) / right : nan;
    numbers->wrong_error = wrong_ > 0 ? wrong_confidence_ / wrong : nan;
  }

 private:
  double gap_ = 0.0;
  double largest_gap_ = 0.0;
  // Twice the pairs in which the right voxel is the more confident one; ties count half.
  __int128 pairs_ = 0;
  AveragePrecision to_error_;
  double doubt_ = 0.0;
  double wrong_confidence_ = 0.0;
  int64_t correct_ = 0;
  int64_t wrong_ = 0;
};

// What is summed from high confidence to low.
class DescendingSums {
 public:
  // Within a tie, errors are spread evenly: risk at rank k is (before + rate (k - accepted)) / k.
  void Add(const TieGroup& group) {
    to_success_.Add(group.count, group.correct);
    const auto wrong = static_cast<double>(Wrong(group));
    const double rate = group.count == 1 ? wrong : wrong / static_cast<double>(group.count);
    const double offset = static_cast<double>(before_) - rate * static_cast<double>(accepted_);
    risk_ += wrong + offset * HarmonicDifference(accepted_, group.count);
    accepted_ += group.count;
    before_ += Wrong(group);
  }

  void Finish(RankNumbers* numbers) const {
    numbers->success_precision = to_success_.value();
    numbers->risk_coverage_area =
        accepted_ > 0 ? std::max(risk_, 0.0) / static_cast<double>(accepted_) : std::nan("");
  }

 private:
  AveragePrecision to_success_;
  double risk_ = 0.0;
  int64_t accepted_ = 0;
  int64_t before_ = 0;  // wrong voxels among those accepted
};

// The voxels [first, last) of sorted keys that have the same confidence.
TieGroup GroupOfKeys(const std::vector<uint32_t>& keys, size_t first, size_t last) {
  int64_t correct = 0;
  for (size_t i = first; i < last; ++i) correct += keys[i] & 1u;
  return {.confidence = static_cast<double>(std::bit_cast<float>(keys[first] >> 1)),
          .count = static_cast<int64_t>(last - first),
          .correct = correct};
}

// Calls visit(group) for the ties of sorted keys, which are many: a list of them would take six
// times the memory.
template <class Visit>
void ForEachGroup(const std::vector<uint32_t>& keys, const Visit& visit) {
  for (size_t first = 0, last = 0; first < keys.size(); first = last) {
    while (last < keys.size() && keys[last] >> 1 == keys[first] >> 1) ++last;
    visit(GroupOfKeys(keys, first, last));
  }
}
template <class Visit>
void ForEachGroupDown(const std::vector<uint32_t>& keys, const Visit& visit) {
  for (size_t first = keys.size(), last = first; last > 0; last = first) {
    while (first > 0 && keys[first - 1] >> 1 == keys[last - 1] >> 1) --first;
    visit(GroupOfKeys(keys, first, last));
  }
}

// `up` and `down` call what they are given for every group, in that order.
template <class Up, class Down>
RankNumbers FindNumbers(const Up& up, const Down& down) {
  AscendingSums ascending;
  up([&](const TieGroup& group) { ascending.Add(group); });
  DescendingSums descending;
  down([&](const TieGroup& group) { descending.Add(group); });
  RankNumbers numbers;
  ascending.Finish(&numbers);
  descending.Finish(&numbers);
  return numbers;
}

}  // namespace

RankNumbers NumbersOfRanks(std::span<const TieGroup> groups) {
  return FindNumbers([&](const auto& add) { std::for_each(groups.begin(), groups.end(), add); },
                     [&](const auto& add) { std::for_each(groups.rbegin(), groups.rend(), add); });
}

void RankedValues::Add(float confidence, bool correct) {
  sorted_ = false;
  keys_.push_back((std::bit_cast<uint32_t>(confidence) << 1) | (correct ? 1u : 0u));
}

void RankedValues::AddTile(const float* confidence,
                           const uint16_t* predicted,
                           const int32_t* labels) {
  sorted_ = false;
  const size_t before = keys_.size();
  keys_.resize(before + kTileVoxels);
  uint32_t* next = keys_.data() + before;
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    const uint32_t correct = predicted[v] == labels[v] ? 1u : 0u;
    *next = (std::bit_cast<uint32_t>(confidence[v]) << 1) | correct;
    next += labels[v] != kNoLabel ? 1 : 0;
  }
  keys_.resize(static_cast<size_t>(next - keys_.data()));
}

void RankedValues::Merge(const RankedValues& other) {
  sorted_ = false;
  const size_t before = keys_.size();
  const size_t more = other.keys_.size();
  keys_.resize(before + more);
  // By index: `other` may be this.
  std::copy_n(other.keys_.begin(), more, keys_.begin() + static_cast<std::ptrdiff_t>(before));
}

void RankedValues::Pack(SumWriter* out) const {
  RankedValues sorted = *this;
  sorted.Sort();
  out->Put(sorted.size());
  for (const uint32_t key : sorted.keys_) out->Put(key);
}

void RankedValues::Unpack(SumReader* in) {
  sorted_ = false;
  keys_.resize(static_cast<size_t>(in->TakeCount()));
  for (uint32_t& key : keys_) key = in->Take<uint32_t>();
}

void RankedValues::Sort() {
  if (!sorted_) SortKeys(&keys_);
  sorted_ = true;
}

std::vector<TieGroup> RankedValues::Groups() const {
  if (!sorted_) {
    RankedValues sorted = *this;
    sorted.Sort();
    return sorted.Groups();
  }
  std::vector<TieGroup> groups;
  // A list that grows would for a moment be there three times.
  groups.reserve(CountDistinct(keys_));
  ForEachGroup(keys_, [&](const TieGroup& group) { groups.push_back(group); });
  return groups;
}

RankNumbers RankedValues::Numbers() const {
  if (!sorted_) {
    RankedValues sorted = *this;
    sorted.Sort();
    return sorted.Numbers();
  }
  return FindNumbers([&](const auto& add) { ForEachGroup(keys_, add); },
                     [&](const auto& add) { ForEachGroupDown(keys_, add); });
}

void RankedValues::AddTo(KeyedValues* pooled) const {
  if (!sorted_) {
    RankedValues sorted = *this;
    sorted.Sort();
    return sorted.AddTo(pooled);
  }
  KeyedValues::Adder adder(pooled);
  ForEachGroup(keys_, [&](const TieGroup& group) { adder.Add(group); });
}

int64_t RankKey(float x) {
  if (x <= 0.5f) return LowerHalfKey(x);
  // 1 - x is exact here.
  return kNumRankKeys - 1 - LowerHalfKey(std::max(1.0f - x, 0.0f));
}

// Confidences of one key but the first are multiples of one power of two, below 2^24 of it: so many
// voxels of theirs are summed in double without rounding.
constexpr int64_t kExactVoxels = int64_t{1} << 28;

void KeyedValues::Adder::Add(const TieGroup& group) {
  const int64_t key = RankKey(static_cast<float>(group.confidence));
  if (key != key_ || key == 0 || count_ + group.count > kExactVoxels) EndKey();
  key_ = key;
  count_ += group.count;
  correct_ += group.correct;
  confidence_ += group.confidence * static_cast<double>(group.count);
}

void KeyedValues::Adder::EndKey() {
  if (count_ == 0) return;
  Bin& bin = into_->keys_[key_];
  bin.count += count_;
  bin.correct += correct_;
  bin.confidence.Add(confidence_);
  count_ = correct_ = 0;
  confidence_ = 0.0;
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

void RankedSums::MergeCase(const RankedSums& other) {
  SEGCAL_DCHECK(other.pooled_.empty());
  other.values_.AddTo(&pooled_);
}

std::vector<TieGroup> RankedSums::Groups() const {
  return pooled_.empty() ? values_.Groups() : pooled_.Groups();
}

RankNumbers RankedSums::Numbers() const {
  return pooled_.empty() ? values_.Numbers() : NumbersOfRanks(pooled_.Groups());
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
