// SPDX-License-Identifier: Apache-2.0
#include "optim/tpe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

namespace segcal {
namespace {

constexpr uint64_t kSearchStream = 0x5345415243480000;

constexpr size_t kRandomTrials = 10;
constexpr int kCandidates = 24;
// Share of the trials that counts as good (TR6), and the most that do.
constexpr double kGoodShare = 0.1;
constexpr size_t kMaxGood = 25;

double Phi(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// A mixture of normal distributions cut to [lower, upper] (TR7): one at every observed value, as
// wide as the distance to its farther neighbour (the outermost have but one), and one over the
// whole range that keeps everything possible.
class Parzen {
 public:
  Parzen(std::vector<double> values, double lower, double upper) : lower_(lower), upper_(upper) {
    const double range = upper - lower;
    const double narrowest = range / std::min(100.0, static_cast<double>(values.size()) + 2.0);
    const double middle = 0.5 * (lower + upper);
    std::sort(values.begin(), values.end());
    const auto place = std::lower_bound(values.begin(), values.end(), middle);
    const auto prior = static_cast<size_t>(place - values.begin());
    values.insert(place, middle);
    for (size_t i = 0; i < values.size(); ++i) {
      const double left = i > 0 ? values[i] - values[i - 1] : 0.0;
      const double right = i + 1 < values.size() ? values[i + 1] - values[i] : 0.0;
      const double width = std::clamp(std::max(left, right), narrowest, range);
      normals_.push_back({.mean = values[i], .width = i == prior ? range : width});
    }
  }

  double Draw(Rng* rng) const {
    const auto k = static_cast<size_t>(rng->Below(static_cast<int64_t>(normals_.size())));
    const Normal& n = normals_[k];
    // Rejection: at least a third of the mass is inside, whatever the mean.
    for (int attempt = 0; attempt < 1000; ++attempt) {
      const double x = n.mean + n.width * rng->Normal();
      if (x >= lower_ && x <= upper_) return x;
    }
    return n.mean;
  }

  double LogDensity(double x) const {
    double density = 0.0;
    for (const Normal& n : normals_) {
      const double t = (x - n.mean) / n.width;
      const double inside = Phi((upper_ - n.mean) / n.width) - Phi((lower_ - n.mean) / n.width);
      density += std::exp(-0.5 * t * t) / (n.width * inside);
    }
    return std::log(density / static_cast<double>(normals_.size()));
  }

 private:
  struct Normal {
    double mean;
    double width;
  };
  double lower_;
  double upper_;
  std::vector<Normal> normals_;
};

// Where a dimension is searched: on the logarithm, or as it is.
double Inner(const SearchDimension& d, double x) { return d.log ? std::log(x) : x; }
double Outer(const SearchDimension& d, double x) {
  return d.log ? std::clamp(std::exp(x), d.lower, d.upper) : x;
}

// Density of one dimension over a set of trials.
class Estimate {
 public:
  virtual ~Estimate() = default;
  virtual double Draw(Rng* rng) const = 0;
  virtual double LogDensity(double x) const = 0;
};

// Whether it is zero, then its value.
class NumberEstimate final : public Estimate {
 public:
  NumberEstimate(const SearchDimension& d, const std::vector<double>& points)
      : dimension_(d), parzen_(NonZero(d, points), Inner(d, d.lower), Inner(d, d.upper)) {
    const auto zeros = static_cast<double>(std::count(points.begin(), points.end(), 0.0));
    // The prior counts as one trial.
    if (d.zero_share > 0.0) {
      zero_ = (zeros + d.zero_share) / (static_cast<double>(points.size()) + 1.0);
    }
  }
  double Draw(Rng* rng) const override {
    if (zero_ > 0.0 && rng->Uniform() < zero_) return 0.0;
    return Outer(dimension_, parzen_.Draw(rng));
  }
  double LogDensity(double x) const override {
    if (x == 0.0 && dimension_.zero_share > 0.0) return std::log(zero_);
    return std::log1p(-zero_) + parzen_.LogDensity(Inner(dimension_, x));
  }

 private:
  static std::vector<double> NonZero(const SearchDimension& d, const std::vector<double>& points) {
    std::vector<double> inner;
    for (const double x : points) {
      if (x != 0.0 || d.zero_share == 0.0) inner.push_back(Inner(d, x));
    }
    return inner;
  }
  const SearchDimension& dimension_;
  Parzen parzen_;
  double zero_ = 0.0;
};

// Shares of the choices (TR8): every trial spreads a little of its one vote over all of them, and
// the prior's is even.
class ChoiceEstimate final : public Estimate {
 public:
  ChoiceEstimate(const SearchDimension& d, const std::vector<double>& points)
      : choices_(d.choices) {
    const auto k = static_cast<double>(choices_.size());
    const double votes = static_cast<double>(points.size()) + 1.0;
    const double spread = 1.0 / votes;
    for (const double choice : choices_) {
      const auto own = static_cast<double>(std::count(points.begin(), points.end(), choice));
      const double of_trials = (own + (votes - 1.0) * spread) / (1.0 + k * spread);
      shares_.push_back((of_trials + 1.0 / k) / votes);
    }
  }
  double Draw(Rng* rng) const override {
    double u = rng->Uniform();
    for (size_t i = 0; i + 1 < choices_.size(); ++i) {
      if (u < shares_[i]) return choices_[i];
      u -= shares_[i];
    }
    return choices_.back();
  }
  double LogDensity(double x) const override {
    const auto place = std::find(choices_.begin(), choices_.end(), x) - choices_.begin();
    return std::log(shares_[static_cast<size_t>(place)]);
  }

 private:
  const std::vector<double>& choices_;
  std::vector<double> shares_;
};

std::unique_ptr<Estimate> MakeEstimate(const SearchDimension& d,
                                       const std::vector<double>& points) {
  if (!d.choices.empty()) return std::make_unique<ChoiceEstimate>(d, points);
  return std::make_unique<NumberEstimate>(d, points);
}

}  // namespace

TreeParzen::TreeParzen(std::vector<SearchDimension> dimensions, uint64_t seed)
    : dimensions_(std::move(dimensions)), rng_(seed, kSearchStream) {}

std::vector<double> TreeParzen::Ask() {
  const auto share =
      static_cast<size_t>(std::ceil(kGoodShare * static_cast<double>(trials_.size())));
  const size_t num_good = std::min(kMaxGood, share);
  std::vector<double> point;
  for (size_t d = 0; d < dimensions_.size(); ++d) {
    point.push_back(trials_.size() < kRandomTrials ? AskRandom(dimensions_[d])
                                                   : AskModel(d, num_good));
  }
  return point;
}

void TreeParzen::Tell(std::vector<double> point, double loss) {
  if (!std::isfinite(loss)) loss = std::numeric_limits<double>::infinity();
  const auto place = std::upper_bound(
      trials_.begin(), trials_.end(), loss, [](double l, const Trial& t) { return l < t.loss; });
  trials_.insert(place, {.point = std::move(point), .loss = loss});
}

double TreeParzen::AskRandom(const SearchDimension& d) {
  if (!d.choices.empty()) {
    return d.choices[static_cast<size_t>(rng_.Below(static_cast<int64_t>(d.choices.size())))];
  }
  if (rng_.Uniform() < d.zero_share) return 0.0;
  const double lower = Inner(d, d.lower);
  return Outer(d, lower + (Inner(d, d.upper) - lower) * rng_.Uniform());
}

double TreeParzen::AskModel(size_t d, size_t num_good) {
  std::vector<double> good;
  std::vector<double> others;
  for (size_t t = 0; t < trials_.size(); ++t) {
    (t < num_good ? good : others).push_back(trials_[t].point[d]);
  }
  const std::unique_ptr<Estimate> of_good = MakeEstimate(dimensions_[d], good);
  const std::unique_ptr<Estimate> of_others = MakeEstimate(dimensions_[d], others);
  double best = 0.0;
  double best_score = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < kCandidates; ++i) {
    const double x = of_good->Draw(&rng_);
    const double score = of_good->LogDensity(x) - of_others->LogDensity(x);
    if (score <= best_score) continue;
    best = x;
    best_score = score;
  }
  return best;
}

}  // namespace segcal
