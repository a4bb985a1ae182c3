// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/exact_sum.h"
#include "kernels/bins.h"
#include "metrics/metric.h"

namespace segcal {
namespace {

struct CalibrationErrorOptions {
  // Equal-width bins of ece and mce. Kirscher26 uses 50, Ding21 10, Murugesan23 15.
  int64_t bins = 50;
  // Equal-width bins of ace. Many bins leave some with few voxels, which weigh as much as full
  // ones.
  int64_t ace_bins = 15;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("bins", self.bins, Between(1, kMaxBins));
    field("ace_bins", self.ace_bins, Between(1, kMaxBins));
  }

  // Bin numbers are 16 bits wide, and float32 edges must stay apart.
  static constexpr double kMaxBins = 10000;
};

// A bin's totals over any number of voxels.
struct Bin {
  int64_t count = 0;
  int64_t correct = 0;
  ExactSum confidence;

  // n_k |mean confidence - accuracy|, (E2) times the count: the subtraction comes before the
  // division, so that a gap of one voxel in 2^33 is still exact.
  double WeightedGap() const {
    return std::fabs(confidence.value() - static_cast<double>(correct));
  }
  double Gap() const { return WeightedGap() / static_cast<double>(count); }
};

// Voxels binned by confidence.
class Histogram {
 public:
  Histogram(std::vector<float> upper, bool closed_above)
      : upper_(std::move(upper)),
        closed_above_(closed_above),
        pending_(kBinTables * upper_.size()),
        bins_(upper_.size()) {}

  void Add(const EvalTile& tile) {
    const BinEdges edges{.upper = upper_, .closed_above = closed_above_};
    AddTopLabelBins(tile.confidence, tile.predicted, tile.labels, edges, pending_);
  }

  void Flush() {
    for (size_t k = 0; k < bins_.size(); ++k) {
      double confidence = 0.0;
      for (size_t i = k; i < pending_.size(); i += bins_.size()) {
        bins_[k].count += pending_[i].count;
        bins_[k].correct += pending_[i].correct;
        confidence += pending_[i].confidence;
        pending_[i] = {};
      }
      bins_[k].confidence.Add(confidence);
    }
  }

  void Merge(const Histogram& other) {
    for (size_t k = 0; k < bins_.size(); ++k) {
      bins_[k].count += other.bins_[k].count;
      bins_[k].correct += other.bins_[k].correct;
      bins_[k].confidence.Merge(other.bins_[k].confidence);
    }
  }

  const std::vector<Bin>& bins() const { return bins_; }
  const std::vector<float>& upper() const { return upper_; }

 private:
  std::vector<float> upper_;
  bool closed_above_;
  std::vector<BinSums> pending_;  // [kBinTables][bins]
  std::vector<Bin> bins_;
};

// (E3): the gaps weighted by occupancy.
double ExpectedError(const std::vector<Bin>& bins) {
  double sum = 0.0;
  int64_t count = 0;
  for (const Bin& bin : bins) {
    if (bin.count > 0) sum += bin.WeightedGap();
    count += bin.count;
  }
  return count > 0 ? sum / static_cast<double>(count) : std::nan("");
}

// (E4): the largest gap of a non-empty bin.
double MaximumError(const std::vector<Bin>& bins) {
  double largest = std::nan("");
  for (const Bin& bin : bins) {
    if (bin.count > 0) largest = std::fmax(largest, bin.Gap());
  }
  return largest;
}

// (E5): the mean gap of the non-empty bins, each counting the same.
double AverageError(const std::vector<Bin>& bins) {
  double sum = 0.0;
  int64_t non_empty = 0;
  for (const Bin& bin : bins) {
    if (bin.count == 0) continue;
    sum += bin.Gap();
    ++non_empty;
  }
  return non_empty > 0 ? sum / static_cast<double>(non_empty) : std::nan("");
}

// Upper edges of (E1): the float32 nearest to k/B, so that a confidence written as k/B in float32
// lies in the bin it closes.
std::vector<float> NearestEdges(int64_t num_bins) {
  std::vector<float> upper;
  for (int64_t k = 1; k <= num_bins; ++k) {
    upper.push_back(static_cast<float>(static_cast<double>(k) / static_cast<double>(num_bins)));
  }
  return upper;
}

float RoundUp(double x) {
  const float nearest = static_cast<float>(x);
  return static_cast<double>(nearest) < x ? std::nextafter(nearest, 2.0f) : nearest;
}

// Upper edges of (E6) in double, k (1 + 1e-8)/B. Rounded up to float32 they give the same bins: for
// a float32 x, x < edge holds exactly if x < the smallest float32 that is not below the edge.
std::vector<float> AverageErrorEdges(int64_t num_bins) {
  const double step = (1.0 + 1e-8) / static_cast<double>(num_bins);
  std::vector<float> upper;
  for (int64_t k = 1; k <= num_bins; ++k) upper.push_back(RoundUp(static_cast<double>(k) * step));
  return upper;
}

// Top-label calibration errors, docs/methods/calibration_error.md.
class CalibrationErrorAccumulator final : public MetricAccumulator {
 public:
  explicit CalibrationErrorAccumulator(const CalibrationErrorOptions& options)
      : expected_(NearestEdges(options.bins), /*closed_above=*/true),
        average_(AverageErrorEdges(options.ace_bins), /*closed_above=*/false) {}

  void Add(const EvalTile& tile) override {
    expected_.Add(tile);
    average_.Add(tile);
  }
  void Flush() override {
    expected_.Flush();
    average_.Flush();
  }
  void Merge(const MetricAccumulator& other) override {
    const auto& from = static_cast<const CalibrationErrorAccumulator&>(other);
    expected_.Merge(from.expected_);
    average_.Merge(from.average_);
  }
  std::vector<MetricValue> Finish() const override {
    return {{"ece", ExpectedError(expected_.bins()), {}},
            {"mce", MaximumError(expected_.bins()), {}},
            {"ace", AverageError(average_.bins()), {}}};
  }
  // The bins of ece.
  std::vector<ReliabilityBin> Reliability() const override {
    std::vector<ReliabilityBin> diagram;
    double lower = 0.0;
    for (size_t k = 0; k < expected_.bins().size(); ++k) {
      const Bin& bin = expected_.bins()[k];
      const double upper = static_cast<double>(expected_.upper()[k]);
      diagram.push_back({lower, upper, bin.count, bin.correct, bin.confidence.value()});
      lower = upper;
    }
    return diagram;
  }

 private:
  Histogram expected_;
  Histogram average_;
};

// A confidence may pass 1 by one unit in the last place of float32, and a gap with it.
constexpr double kOne = 1.0 + 0x1p-22;

constexpr MetricNumber kNumbers[] = {
    {"ece",
     "expected calibration error: occupancy-weighted gap of confidence and accuracy",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kOne},
    {"mce",
     "maximum calibration error: the largest gap of a bin",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     kOne},
    {"ace",
     "average calibration error: mean gap of the non-empty bins, voxels of all cases pooled",
     Goal::kLow,
     Aggregate::kPooled,
     0.0,
     kOne},
};

std::unique_ptr<MetricAccumulator> MakeCalibrationErrors(const MetricContext&,
                                                         const OptionMap& options) {
  return std::make_unique<CalibrationErrorAccumulator>(
      ParseOptions<CalibrationErrorOptions>("calibration_error", options));
}

}  // namespace

extern constinit const MetricInfo kCalibrationErrors{
    .name = "calibration_error",
    .reference = "Naeini15",
    .numbers = kNumbers,
    .defaults = &DefaultOptions<CalibrationErrorOptions>,
    .make = &MakeCalibrationErrors};

}  // namespace segcal
