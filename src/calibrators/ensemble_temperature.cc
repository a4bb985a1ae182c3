// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "core/throw.h"
#include "methods/shared/calibrator_info.h"
#include "methods/shared/graph.h"
#include "methods/shared/mixture_fit.h"

namespace segcal {
namespace {

constexpr double kMaxBeta = 1e6;
// Weights are divided by their sum at the end of a fit, so they miss one by rounding only.
constexpr double kSumTolerance = 1e-12;

double TotalWeight(const Mixture& mixture) {
  return mixture.weights[0] + mixture.weights[1] + mixture.weights[2];
}

// q = w_1 softmax(z / T) + w_2 softmax(z) + w_3 / C (ET1).
class EnsembleTemperature final : public PixelCalibrator {
 public:
  static constexpr const char* kName = "ets";
  explicit EnsembleTemperature(const MixtureOptions& options) : options_(options) {}

  Properties properties() const override {
    return {.translation_invariant = true, .preserves = Preserves::kOrder};
  }
  ParameterCounts counts(int64_t) const override { return {.optimised = 4, .identifiable = 3}; }
  std::optional<double> inverse_temperature() const override { return mixture_.beta; }

  FitOutcome Fit(const FitContext& context) override {
    const MixtureFit fit = FitMixture(context, options_);
    mixture_ = fit.mixture;
    return fit.outcome;
  }

  Json Parameters() const override {
    const double* w = mixture_.weights;
    return {{"beta", mixture_.beta}, {"weights", {w[0], w[1], w[2]}}};
  }

  std::vector<Claim> Claims() const override {
    const double least =
        *std::min_element(std::begin(mixture_.weights), std::end(mixture_.weights));
    const double excess = std::fabs(TotalWeight(mixture_) - 1.0);
    return {{.what = "every weight is at least 0",
             .property = "preserves",
             .found = least,
             .allowed = 0.0,
             .holds = least >= 0.0},
            {.what = "the weights sum to one",
             .property = "preserves",
             .found = excess,
             .allowed = kSumTolerance,
             .holds = excess <= kSumTolerance},
            {.what = "beta is above 0",
             .property = "preserves",
             .found = mixture_.beta,
             .allowed = 0.0,
             .holds = mixture_.beta > 0.0}};
  }

  void SetParameters(const Json& json, int64_t, const std::string& where) override {
    JsonObject object(json, where);
    Mixture read{.beta = object.Number("beta")};
    const std::vector<double> weights = object.Numbers("weights");
    object.Finish();
    if (!(read.beta > 0.0 && read.beta <= kMaxBeta)) {
      Throw(ErrorCode::kBadData,
            "{}: beta is {}, a value in (0, {}] is required",
            where,
            read.beta,
            kMaxBeta);
    }
    if (weights.size() != 3) {
      Throw(ErrorCode::kBadData, "{}: {} weights, 3 are required", where, weights.size());
    }
    for (size_t k = 0; k < 3; ++k) {
      if (weights[k] != 0.0 && !(weights[k] >= kSmallestWeight && weights[k] <= 1.0)) {
        Throw(ErrorCode::kBadData,
              "{}: weights[{}] is {}, 0 or a value in [{}, 1] is required",
              where,
              k,
              weights[k],
              kSmallestWeight);
      }
      read.weights[k] = weights[k];
    }
    if (!(std::fabs(TotalWeight(read) - 1.0) <= kSumTolerance)) {
      Throw(ErrorCode::kBadData,
            "{}: the weights sum to {}, 1 is required",
            where,
            TotalWeight(read));
    }
    mixture_ = read;
  }

  void ApplyTile(const Tile& tile, const TileProbs& out) const override {
    MixtureTile(tile, mixture_, out);
  }
  std::string AddToGraph(const GraphInput& in, OnnxBuilder* g) const override {
    const auto weighted = [&](int k, const std::string& probs) {
      return g->Op("Mul", {probs, g->Scalar(mixture_.weights[k])});
    };
    const std::string tempered = g->Softmax(g->Op("Mul", {in.logits, g->Scalar(mixture_.beta)}));
    const std::string both =
        g->Op("Add", {weighted(0, tempered), weighted(1, g->Softmax(in.logits))});
    const double uniform = mixture_.weights[2] / static_cast<double>(in.num_classes);
    return g->Op("Add", {both, g->Scalar(uniform)});
  }

 private:
  MixtureOptions options_;
  Mixture mixture_;
};

}  // namespace

extern constinit const CalibratorInfo kEnsembleTemperature{
    .name = "ets",
    .summary = "Mixes the tempered, the given and the uniform probabilities.",
    .reference = "Zhang20",
    .page = "ensemble_temperature",
    .default_options = &DefaultOptions<MixtureOptions>,
    .make = &MakeWith<EnsembleTemperature, MixtureOptions>};

}  // namespace segcal
