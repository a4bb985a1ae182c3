// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/entropy_split.h"

#include <algorithm>

#include "core/exact_sum.h"
#include "core/rng.h"
#include "core/throw.h"
#include "data/reduce.h"
#include "kernels/entropy.h"
#include "methods/shared/entropy_threshold.h"
#include "methods/shared/temperature_pass.h"

namespace segcal {
namespace {

constexpr int64_t kMaxHeld = 500;
// Random streams of the voxels of case `index`, apart from other uses of the seed.
constexpr uint64_t kHeldStream = 0x4D45544143414C00;

Rng DrawPriority(const FitContext& context, int64_t case_index) {
  return Rng(context.seed, kHeldStream + static_cast<uint64_t>(case_index));
}
uint64_t PriorityAt(const Rng& rng, const Tile& tile, int64_t v) {
  return rng.At(static_cast<uint64_t>(tile.first_voxel + v));
}

bool Eligible(const Tile& tile, int64_t v, bool only_correct) {
  if (tile.labels[v] == kNoLabel) return false;
  return !only_correct || tile.labels[v] == tile.decision[v];
}

bool Before(const HeldVoxel& a, const HeldVoxel& b) {
  return a.priority != b.priority ? a.priority < b.priority : a.entropy < b.entropy;
}

// The kMaxHeld eligible voxels of lowest priority, as a heap with the highest of them on top.
struct HeldTotals {
  int64_t eligible = 0;
  std::vector<HeldVoxel> lowest;

  void Offer(const HeldVoxel& voxel) {
    const bool full = static_cast<int64_t>(lowest.size()) == kMaxHeld;
    if (full && !Before(voxel, lowest.front())) return;
    if (full) {
      std::pop_heap(lowest.begin(), lowest.end(), Before);
      lowest.pop_back();
    }
    lowest.push_back(voxel);
    std::push_heap(lowest.begin(), lowest.end(), Before);
  }
  void Merge(const HeldTotals& other) {
    eligible += other.eligible;
    for (const HeldVoxel& voxel : other.lowest) Offer(voxel);
  }
  void Pack(SumWriter* out) const {
    std::vector<HeldVoxel> sorted = lowest;
    std::sort(sorted.begin(), sorted.end(), Before);
    out->Put(eligible);
    out->Put(static_cast<int64_t>(sorted.size()));
    for (const HeldVoxel& voxel : sorted) {
      out->Put(voxel.priority);
      out->Put(voxel.entropy);
      out->Put(voxel.correct);
    }
  }
  void Unpack(SumReader* in) {
    eligible = in->Take<int64_t>();
    for (int64_t left = in->TakeCount(); left > 0; --left) {
      HeldVoxel voxel;
      voxel.priority = in->Take<uint64_t>();
      voxel.entropy = in->Take<double>();
      voxel.correct = in->Take<bool>();
      Offer(voxel);
    }
  }
};

// min(n / 10, 500) of the n eligible voxels, by priority; empty where n < 10.
std::vector<HeldVoxel> HoldAside(const FitContext& context, EntropySplit* split) {
  const auto add = [&](const Tile& tile, int64_t case_index, HeldTotals* totals) {
    alignas(64) double entropy[kTileVoxels];
    EntropyTile(tile, entropy);
    const Rng rng = DrawPriority(context, case_index);
    for (int64_t v = 0; v < tile.count; ++v) {
      if (!Eligible(tile, v, split->only_correct)) continue;
      ++totals->eligible;
      totals->Offer({PriorityAt(rng, tile, v), entropy[v], tile.labels[v] == tile.decision[v]});
    }
  };
  HeldTotals totals = ReduceTiles(context.stream, "hold aside", context.pooling, HeldTotals{}, add);
  std::sort(totals.lowest.begin(), totals.lowest.end(), Before);
  totals.lowest.resize(static_cast<size_t>(std::min(totals.eligible / 10, kMaxHeld)));
  split->held = static_cast<int64_t>(totals.lowest.size());
  if (split->held > 0) split->last_priority = totals.lowest.back().priority;
  if (split->held == 0) {
    split->warnings.push_back(fmt::format(
        "{} {} to hold aside, 10 are required to find a threshold: all voxels are scaled",
        totals.eligible,
        split->only_correct ? "correct voxels" : "voxels"));
  }
  return std::move(totals.lowest);
}

// Labels of a tile with all but the voxels below gamma, and not held aside, taken out.
class SelectedLabels {
 public:
  Tile Select(const Tile& tile,
              int64_t case_index,
              const FitContext& context,
              const EntropySplit& split) {
    alignas(64) double entropy[kTileVoxels];
    EntropyTile(tile, entropy);
    const Rng rng = DrawPriority(context, case_index);
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      const bool held = split.held > 0 && Eligible(tile, v, split.only_correct) &&
                        PriorityAt(rng, tile, v) <= split.last_priority;
      labels_[v] = entropy[v] < split.gamma && !held ? tile.labels[v] : kNoLabel;
    }
    Tile selected = tile;
    selected.labels = labels_;
    return selected;
  }

 private:
  alignas(64) int32_t labels_[kTileVoxels];
};

// What a TemperatureProblem needs to know of its voxels.
struct ProblemTotals {
  TemperatureTotals at_one;
  TemperatureTotals at_start;
  LabelMargins pending;
  int64_t count = 0;
  int64_t below_max = 0;
  ExactSum slope_at_zero;

  void Flush() noexcept {
    at_one.Flush();
    at_start.Flush();
    slope_at_zero.Add(pending.slope_at_zero);
    count += pending.count;
    below_max += pending.below_max;
    pending = {};
  }
  static constexpr auto SumFields() {
    using T = ProblemTotals;
    return std::tuple(&T::at_one, &T::at_start, &T::slope_at_zero, &T::count, &T::below_max);
  }
};

}  // namespace

EntropySplit SplitByMisCoverage(const FitContext& context, double alpha) {
  EntropySplit split;
  std::vector<double> entropies;
  for (const HeldVoxel& voxel : HoldAside(context, &split)) entropies.push_back(voxel.entropy);
  if (split.held > 0) split.gamma = MisCoverageThreshold(std::move(entropies), alpha);
  return split;
}

EntropySplit SplitByAccuracy(const FitContext& context, double accuracy) {
  EntropySplit split;
  split.only_correct = false;
  std::vector<HeldVoxel> held = HoldAside(context, &split);
  if (split.held == 0) return split;
  const AccuracyThreshold found = FindAccuracyThreshold(std::move(held), accuracy);
  if (found.gamma) split.gamma = *found.gamma;
  if (!found.gamma) {
    split.warnings.push_back(fmt::format(
        "all voxels together have an accuracy of {} or more: all are scaled", accuracy));
  }
  if (found.reached) {
    split.warnings.push_back(fmt::format(
        "no threshold gives an accuracy of {}; the lowest one has {}", accuracy, *found.reached));
  }
  return split;
}

TemperatureFit FitTemperatureBelow(const FitContext& context,
                                   const EntropySplit& split,
                                   const TemperatureOptions& options) {
  const double start = context.survey.sample_beta;
  const auto survey = [&](const Tile& tile, int64_t case_index, ProblemTotals* totals) {
    SelectedLabels labels;
    const Tile selected = labels.Select(tile, case_index, context, split);
    AddTemperatureSums(selected, 1.0, totals->at_one.pending());
    AddTemperatureSums(selected, start, totals->at_start.pending());
    AddLabelMargins(selected, &totals->pending);
  };
  const ProblemTotals totals = ReduceTiles(
      context.stream, "survey below the threshold", context.pooling, ProblemTotals{}, survey);
  if (totals.count == 0) {
    TemperatureFit none;
    none.outcome.solver = "none";
    none.outcome.status = FitStatus::kNothingToFit;
    none.outcome.passes = 3;
    none.outcome.warnings.emplace_back("no voxel is below the threshold: beta stays 1");
    return none;
  }
  const auto evaluate = [&](const std::string& stage, double beta) {
    const auto add = [&](const Tile& tile, int64_t case_index, TemperatureTotals* sums) {
      SelectedLabels labels;
      AddTemperatureSums(labels.Select(tile, case_index, context, split), beta, sums->pending());
    };
    return ReduceTiles(context.stream, stage, context.pooling, TemperatureTotals{}, add).Sums();
  };
  const LabelMargins margins{.count = totals.count,
                             .below_max = totals.below_max,
                             .slope_at_zero = totals.slope_at_zero.value()};
  return FitTemperature(TemperatureProblem{.voxels = margins.count,
                                           .flat = 0,
                                           .margins = margins,
                                           .at_one = totals.at_one.Sums(),
                                           .start_beta = start,
                                           .at_start = totals.at_start.Sums(),
                                           .passes = 3,  // survey, hold aside, survey below
                                           .evaluate = evaluate},
                        options);
}

}  // namespace segcal
