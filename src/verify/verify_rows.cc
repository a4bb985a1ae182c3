// SPDX-License-Identifier: Apache-2.0
#include "verify/verify_rows.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace segcal {

double RowError(std::span<const float> probs) {
  double sum = 0.0;
  for (const float q : probs) {
    // Also false for NaN.
    if (!(q >= 0.0f)) return std::numeric_limits<double>::infinity();
    sum += static_cast<double>(q);
  }
  return std::fabs(sum - 1.0);
}

std::optional<WrongPair> FindRival(std::span<const float> probs, int64_t winner) {
  std::optional<WrongPair> worst;
  const auto won = static_cast<double>(probs[static_cast<size_t>(winner)]);
  for (size_t c = 0; c < probs.size(); ++c) {
    const double amount = static_cast<double>(probs[c]) - won;
    if (static_cast<int64_t>(c) == winner || !(amount >= 0.0)) continue;
    if (!worst || amount > worst->amount)
      worst = {.above = winner, .below = static_cast<int64_t>(c), .amount = amount};
  }
  return worst;
}

std::optional<WrongPair> FindInversion(std::span<const double> scores,
                                       std::span<const float> probs) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  // The least probable class among those with a higher score than the current group of equals.
  size_t least = order[0];
  std::optional<WrongPair> worst;
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    size_t least_here = least;
    for (; end < order.size() && scores[order[end]] == scores[order[begin]]; ++end) {
      const size_t c = order[end];
      const double amount = static_cast<double>(probs[c]) - static_cast<double>(probs[least]);
      if (begin > 0 && amount > (worst ? worst->amount : 0.0)) {
        worst = {.above = static_cast<int64_t>(least),
                 .below = static_cast<int64_t>(c),
                 .amount = amount};
      }
      if (probs[c] < probs[least_here]) least_here = c;
    }
    least = least_here;
    begin = end;
  }
  return worst;
}

void Tally::AddVoxel(double offence) noexcept {
  ++voxels_;
  worst_ = std::max(worst_, offence);
}

bool Tally::AddViolation(Place place) noexcept {
  ++violations_;
  return examples_.size() < max_examples_ || (max_examples_ > 0 && place < examples_.back().first);
}

void Tally::AddExample(Place place, CounterExample example) {
  const auto at =
      std::upper_bound(examples_.begin(), examples_.end(), place, [](Place p, const auto& kept) {
        return p < kept.first;
      });
  examples_.insert(at, {place, std::move(example)});
  if (examples_.size() > max_examples_) examples_.pop_back();
}

void Tally::Merge(const Tally& other) {
  voxels_ += other.voxels_;
  violations_ += other.violations_;
  worst_ = std::max(worst_, other.worst_);
  std::vector<std::pair<Place, CounterExample>> merged;
  std::merge(examples_.begin(),
             examples_.end(),
             other.examples_.begin(),
             other.examples_.end(),
             std::back_inserter(merged),
             [](const auto& a, const auto& b) { return a.first < b.first; });
  if (merged.size() > max_examples_) merged.resize(max_examples_);
  examples_ = std::move(merged);
}

void Tally::WriteTo(VerifyCheck* check) const {
  check->voxels = voxels_;
  check->violations = violations_;
  check->worst = worst_;
  for (const auto& [place, example] : examples_) check->examples.push_back(example);
}

}  // namespace segcal
