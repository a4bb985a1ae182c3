// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/json.h"
#include "core/throw.h"
#include "kernels/softmax.h"
#include "methods/calibrator.h"
#include "methods/temperature_fit.h"

namespace segcal {
namespace {

// q = softmax(beta z), beta = 1/T in [0, max_beta] (T1).
class TemperatureScaling final : public PixelCalibrator {
 public:
  static constexpr const char* kName = "ts";
  explicit TemperatureScaling(const TemperatureOptions& options) : options_(options) {}

  Properties properties() const override {
    return {.translation_invariant = true, .preserves = Preserves::kOrder};
  }
  ParameterCounts counts(int64_t) const override { return {.optimised = 1, .identifiable = 1}; }

  FitOutcome Fit(const FitContext& context) override {
    const TemperatureFit fit = FitTemperature(context, options_);
    beta_ = fit.beta;
    return fit.outcome;
  }

  Json Parameters() const override { return {{"beta", beta_}}; }
  std::vector<Claim> Claims() const override {
    return {{.what = "beta is at least 0",
             .property = "preserves",
             .found = beta_,
             .allowed = 0.0,
             .holds = beta_ >= 0.0}};
  }
  void SetParameters(const Json& json, int64_t, const std::string& where) override {
    JsonObject object(json, where);
    beta_ = object.Number("beta");
    object.Finish();
    if (!(beta_ >= 0.0 && beta_ <= options_.max_beta)) {
      Throw(ErrorCode::kBadData,
            "{}: beta is {}, a value in [0, {}] is required",
            where,
            beta_,
            options_.max_beta);
    }
  }
  void ApplyTile(const Tile& tile, const TileProbs& out) const override {
    SoftmaxTile(tile, beta_, out);
  }
  bool TemperatureTile(const Tile&, float* out) const override {
    std::fill_n(out, kTileVoxels, static_cast<float>(1.0 / beta_));
    return true;
  }

 private:
  TemperatureOptions options_;
  double beta_ = 1.0;
};

}  // namespace

extern constinit const CalibratorInfo kTemperature{
    .name = "ts",
    .summary = "Divides all logits by one temperature.",
    .reference = "Guo17",
    .page = "temperature",
    .default_options = &DefaultOptions<TemperatureOptions>,
    .make = &MakeWith<TemperatureScaling, TemperatureOptions>};

}  // namespace segcal
