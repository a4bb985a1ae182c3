// SPDX-License-Identifier: Apache-2.0
#include "measures/class_gaps.h"

#include <algorithm>
#include <cmath>

namespace segcal {
namespace {

// Sum of |confidence - correct| over bins between edges, closed above.
double SumOfGaps(std::span<const TieGroup> groups, const std::vector<double>& edges) {
  std::vector<double> difference(edges.size() + 1);
  for (const TieGroup& group : groups) {
    const auto bin = std::lower_bound(edges.begin(), edges.end(), group.confidence);
    difference[static_cast<size_t>(bin - edges.begin())] +=
        group.confidence * static_cast<double>(group.count) - static_cast<double>(group.correct);
  }
  double sum = 0.0;
  for (const double gap : difference) sum += std::fabs(gap);
  return sum;
}

// Of the bins of every class between the same edges, per voxel.
double MeanOfGaps(const ClassGroups& classes, const std::vector<double>& edges) {
  double sum = 0.0;
  int64_t count = 0;
  for (const std::vector<TieGroup>& groups : classes) {
    sum += SumOfGaps(groups, edges);
    count += CountVoxels(groups);
  }
  return count > 0 ? sum / static_cast<double>(count) : std::nan("");
}

// Voxels of one class and confidence.
struct ClassTie {
  size_t class_index;
  TieGroup group;
};

std::vector<ClassTie> ListTies(const ClassGroups& classes) {
  std::vector<ClassTie> ties;
  for (size_t c = 0; c < classes.size(); ++c) {
    for (const TieGroup& group : classes[c]) ties.push_back({c, group});
  }
  std::stable_sort(ties.begin(), ties.end(), [](const ClassTie& a, const ClassTie& b) {
    return a.group.confidence < b.group.confidence;
  });
  return ties;
}

// Deals ties out to bins of equal mass (AD1), each by itself for every class.
class MassDealer {
 public:
  MassDealer(int64_t num_voxels, size_t num_classes, int64_t num_bins)
      : num_voxels_(num_voxels),
        num_bins_(num_bins),
        bins_(num_classes, std::vector<MassBin>(static_cast<size_t>(num_bins))) {}

  // Voxels of one confidence, whatever their class.
  void Add(std::span<const ClassTie> ties) {
    int64_t count = 0;
    for (const ClassTie& tie : ties) count += tie.group.count;
    for (int64_t left = count; left > 0;) {
      while (EndOfBin() <= position_) ++bin_;
      const int64_t taken = std::min(left, EndOfBin() - position_);
      Take(ties, static_cast<double>(taken) / static_cast<double>(count));
      position_ += taken;
      left -= taken;
    }
  }

  double SumOfBinGaps() const {
    double sum = 0.0;
    for (const std::vector<MassBin>& bins : bins_) {
      for (const MassBin& bin : bins) sum += bin.count > 0.0 ? bin.Gap() : 0.0;
    }
    return sum;
  }

 private:
  int64_t EndOfBin() const {
    return static_cast<int64_t>(static_cast<__int128>(num_voxels_) * (bin_ + 1) / num_bins_);
  }
  void Take(std::span<const ClassTie> ties, double share) {
    for (const auto& [c, group] : ties) {
      MassBin& bin = bins_[c][static_cast<size_t>(bin_)];
      const double count = share * static_cast<double>(group.count);
      bin.count += count;
      bin.correct += share * static_cast<double>(group.correct);
      bin.confidence += group.confidence * count;
    }
  }

  int64_t num_voxels_;
  int64_t num_bins_;
  int64_t bin_ = 0;
  int64_t position_ = 0;
  std::vector<std::vector<MassBin>> bins_;  // [class][bin]
};

}  // namespace

std::vector<TieGroup> JoinGroups(const ClassGroups& classes) {
  std::vector<TieGroup> all;
  for (const auto& groups : classes) all.insert(all.end(), groups.begin(), groups.end());
  std::sort(all.begin(), all.end(), [](const TieGroup& a, const TieGroup& b) {
    return a.confidence < b.confidence;
  });
  return all;
}

double EqualWidthClassGap(const ClassGroups& classes, int64_t num_bins) {
  std::vector<double> edges;
  // The nearest float32, as every edge rule (BN1).
  for (int64_t k = 1; k < num_bins; ++k)
    edges.push_back(static_cast<float>(static_cast<double>(k) / static_cast<double>(num_bins)));
  return MeanOfGaps(classes, edges);
}

double PercentileClassGap(const ClassGroups& classes, int64_t num_bins) {
  return MeanOfGaps(classes, Percentiles(JoinGroups(classes), num_bins));
}

double EqualMassClassGap(const ClassGroups& classes, int64_t num_bins) {
  const std::vector<ClassTie> ties = ListTies(classes);
  int64_t count = 0;
  for (const ClassTie& tie : ties) count += tie.group.count;
  if (count == 0) return std::nan("");
  MassDealer dealer(count, classes.size(), num_bins);
  for (size_t begin = 0, end = 0; begin < ties.size(); begin = end) {
    while (end < ties.size() && ties[end].group.confidence == ties[begin].group.confidence) ++end;
    dealer.Add(std::span(ties).subspan(begin, end - begin));
  }
  return dealer.SumOfBinGaps() / static_cast<double>(std::ssize(classes) * num_bins);
}

}  // namespace segcal
