// SPDX-License-Identifier: Apache-2.0
#include "kernels/scores.h"

#include <cmath>
#include <limits>

#include "core/exact_sum.h"
#include "metrics/metric.h"

namespace segcal {
namespace {

struct ScoreOptions {
  // Whether to compute entropy and over_confidence; without it they are undefined (NaN). It needs a
  // logarithm of every probability, more time than all other numbers together.
  bool entropy = true;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("entropy", self.entropy, Any());
  }
};

// Means over the labelled voxels of quantities of one voxel: (P1) to (P6) in
// docs/methods/scores.md.
class ScoreAccumulator final : public ListedSums<ScoreAccumulator> {
 public:
  explicit ScoreAccumulator(const ScoreOptions& options) : options_(options) {}

  void Add(const EvalTile& tile) override {
    AddTopLabelSums(tile.confidence, tile.predicted, tile.labels, &pending_);
    AddLossSums(tile.probs, tile.log_label, tile.labels, tile.num_classes, &pending_);
    if (options_.entropy) AddEntropySum(tile.probs, tile.labels, tile.num_classes, &pending_);
  }

  void Flush() override {
    count_ += pending_.count;
    correct_ += pending_.correct;
    confidence_.Add(pending_.confidence);
    log_loss_.Add(pending_.log_loss);
    brier_.Add(pending_.brier);
    entropy_.Add(pending_.entropy);
    pending_ = {};
  }

  static constexpr auto SumFields() {
    using S = ScoreAccumulator;
    return std::tuple(
        &S::count_, &S::correct_, &S::log_loss_, &S::brier_, &S::entropy_, &S::confidence_);
  }

  std::vector<MetricValue> Finish() const override {
    const double nll = Mean(log_loss_.value());
    const double entropy = options_.entropy ? Mean(entropy_.value()) : std::nan("");
    return {{"nll", nll, {}},
            {"brier", Mean(brier_.value()), {}},
            {"entropy", entropy, {}},
            {"accuracy", Mean(static_cast<double>(correct_)), {}},
            {"confidence", Mean(confidence_.value()), {}},
            {"over_confidence", nll - entropy, {}}};
  }

 private:
  double Mean(double sum) const {
    return count_ > 0 ? sum / static_cast<double>(count_) : std::nan("");
  }

  ScoreOptions options_;
  ScoreSums pending_;

  int64_t count_ = 0;
  int64_t correct_ = 0;
  ExactSum log_loss_;
  ExactSum brier_;
  ExactSum entropy_;
  ExactSum confidence_;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr MetricNumber kScoresNumbers[] = {
    {"nll",
     "mean negative log-likelihood of the label, in nats",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     -0x1p-22,
     kInfinity},
    {"brier",
     "mean squared distance of the probabilities from the one-hot label",
     Goal::kLow,
     Aggregate::kMeanOverCases,
     0.0,
     2.0 * kJustAboveOne},
    {"entropy",
     "mean entropy of the probabilities, in nats",
     Goal::kNone,
     Aggregate::kMeanOverCases,
     -0x1p-22,
     kInfinity},
    {"accuracy",
     "share of voxels whose most probable class is the label",
     Goal::kHigh,
     Aggregate::kMeanOverCases,
     0.0,
     1.0,
     nullptr,
     DependsOn::kPredictedClass},
    {"confidence",
     "mean of the largest probability",
     Goal::kNone,
     Aggregate::kMeanOverCases,
     0.0,
     kJustAboveOne},
    {"over_confidence",
     "nll - entropy: positive if overconfident, negative if underconfident",
     Goal::kZero,
     Aggregate::kMeanOverCases,
     -kInfinity,
     kInfinity},
};

std::unique_ptr<MetricAccumulator> MakeScores(const MetricContext&, const OptionMap& options) {
  return std::make_unique<ScoreAccumulator>(ParseOptions<ScoreOptions>("scores", options));
}

}  // namespace

extern constinit const MetricInfo kScores{.name = "scores",
                                          .reference = "Brier50",
                                          .numbers = kScoresNumbers,
                                          .defaults = &DefaultOptions<ScoreOptions>,
                                          .make = &MakeScores};

}  // namespace segcal
