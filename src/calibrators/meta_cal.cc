// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/json.h"
#include "core/options.h"
#include "core/throw.h"
#include "kernels/entropy.h"
#include "kernels/softmax.h"
#include "methods/shared/applied_loss.h"
#include "methods/shared/calibrator_info.h"
#include "methods/shared/entropy_split.h"
#include "methods/shared/graph.h"

namespace segcal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// The temperature of `meta_star` above the threshold. softmax(z / 1e10) is 1/C to the last bit of
// float32, so both methods write 1/C; the winner rule then tells them apart.
constexpr double kLargeTemperature = 1e10;

struct MetaCalOptions {
  // "miscoverage": at most a share alpha of the correct voxels is sent away (MC2).
  // "accuracy": those that are not are right with this accuracy (MC3-MC5).
  std::string mode = "miscoverage";
  double alpha = 0.05;
  double accuracy = 0.95;
  // Of the temperature below the threshold, as in `ts`.
  TemperatureOptions temperature;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("mode", self.mode, OneOf({"miscoverage", "accuracy"}));
    field("alpha", self.alpha, Between(0.0, 1.0));
    field("accuracy", self.accuracy, Between(0.0, 1.0));
    TemperatureOptions::Fields(self.temperature, field);
  }
};

// The entropy of softmax(z) (MC1), one channel; one of the largest classes is the decision.
std::string EntropyInGraph(const GraphInput& in, OnnxBuilder* g) {
  const std::string exps = g->Op("Exp", {in.logits});
  const std::string wins = IsDecision(in.decision, in.num_classes, g);
  const std::string others =
      g->OverChannels("ReduceSum", g->Op("Where", {wins, g->Scalar(0.0), exps}));
  const std::string moment = g->OverChannels("ReduceSum", g->Op("Mul", {in.logits, exps}));
  const std::string mean = g->Op("Div", {moment, g->Op("Add", {others, g->Scalar(1.0)})});
  return g->Op("Sub", {g->LogOnePlus(others), mean});
}

// Uniform where the entropy of softmax(z) is above gamma, else softmax(beta z) (MC6). The star
// keeps the decision.
template <bool kStar>
class MetaCal final : public PixelCalibrator {
 public:
  static constexpr const char* kName = kStar ? "meta_star" : "meta";
  explicit MetaCal(const MetaCalOptions& options) : options_(options) {}

  Properties properties() const override {
    return {.translation_invariant = true,
            .preserves = kStar ? Preserves::kArgmax : Preserves::kNone};
  }
  ParameterCounts counts(int64_t) const override { return {.optimised = 2, .identifiable = 2}; }
  std::optional<double> inverse_temperature() const override { return beta_; }

  FitOutcome Fit(const FitContext& context) override {
    const EntropySplit split = options_.mode == "accuracy"
                                   ? SplitByAccuracy(context, options_.accuracy)
                                   : SplitByMisCoverage(context, options_.alpha);
    TemperatureFit fit = FitTemperatureBelow(context, split, options_.temperature);
    gamma_ = split.gamma;
    beta_ = fit.beta;
    FitOutcome outcome = std::move(fit.outcome);
    outcome.warnings.insert(outcome.warnings.begin(), split.warnings.begin(), split.warnings.end());
    outcome.passes += 1;
    outcome.nll_after = AppliedLoss(context, *this, fmt::format("fit {}, loss", kName));
    return outcome;
  }

  // No threshold is null: JSON has no infinity.
  Json Parameters() const override {
    return {{"gamma", gamma_ < kInfinity ? Json(gamma_) : Json(nullptr)}, {"beta", beta_}};
  }

  std::vector<Claim> Claims() const override {
    if constexpr (!kStar) return {};
    return {NonNegativeBeta(beta_)};
  }

  void SetParameters(const Json& json, int64_t, const std::string& where) override {
    JsonObject object(json, where);
    const double gamma = object.Any("gamma").is_null() ? kInfinity : object.Number("gamma");
    const double beta = object.Number("beta");
    object.Finish();
    if (!(gamma >= 0.0)) {
      Throw(ErrorCode::kBadData,
            "{}: gamma is {}, a value of at least 0 or null is required",
            where,
            gamma);
    }
    CheckBeta(beta, options_.temperature, where);
    gamma_ = gamma;
    beta_ = beta;
  }

  void ApplyTile(const Tile& tile, const TileProbs& out) const override {
    SoftmaxTile(tile, beta_, out);
    alignas(64) double entropy[kTileVoxels];
    EntropyTile(tile, entropy);
    const auto uniform = static_cast<float>(1.0 / static_cast<double>(tile.num_classes));
    const auto log_uniform = static_cast<float>(-std::log(static_cast<double>(tile.num_classes)));
    for (int64_t v = 0; v < tile.count; ++v) {
      if (!(entropy[v] > gamma_)) continue;
      for (int64_t c = 0; c < tile.num_classes; ++c) out.probs[c * kTileVoxels + v] = uniform;
      if (tile.labels[v] != kNoLabel) out.log_label[v] = log_uniform;
    }
  }

  std::string AddToGraph(const GraphInput& in, OnnxBuilder* g) const override {
    std::string tempered = g->Softmax(g->Op("Mul", {in.logits, g->Scalar(beta_)}));
    if (gamma_ == kInfinity) return tempered;
    const std::string sent_away = g->Op("Greater", {EntropyInGraph(in, g), g->Scalar(gamma_)});
    const double uniform = 1.0 / static_cast<double>(in.num_classes);
    return g->Op("Where", {sent_away, g->Scalar(uniform), tempered});
  }

  bool TemperatureTile(const Tile& tile, float* out) const override {
    if constexpr (!kStar) return false;
    alignas(64) double entropy[kTileVoxels];
    EntropyTile(tile, entropy);
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      out[v] = static_cast<float>(entropy[v] > gamma_ ? kLargeTemperature : 1.0 / beta_);
    }
    return true;
  }

 private:
  MetaCalOptions options_;
  double gamma_ = kInfinity;
  double beta_ = 1.0;
};

using PlainMetaCal = MetaCal<false>;
using StarMetaCal = MetaCal<true>;

}  // namespace

extern constinit const CalibratorInfo kMetaCal{
    .name = "meta",
    .summary = "Makes voxels of high entropy uniform and divides the others by one temperature.",
    .reference = "Ma21",
    .page = "meta_cal",
    .default_options = &DefaultOptions<MetaCalOptions>,
    .make = &MakeWith<PlainMetaCal, MetaCalOptions>};

extern constinit const CalibratorInfo kMetaCalStar{
    .name = "meta_star",
    .summary = "As meta, keeping the decision where it makes a voxel uniform.",
    .reference = "Wang23",
    .page = "meta_cal",
    .default_options = &DefaultOptions<MetaCalOptions>,
    .make = &MakeWith<StarMetaCal, MetaCalOptions>};

}  // namespace segcal
