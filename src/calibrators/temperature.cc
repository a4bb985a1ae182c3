// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/json.h"
#include "kernels/softmax.h"
#include "methods/shared/calibrator_info.h"
#include "methods/shared/graph.h"
#include "methods/shared/temperature_fit.h"

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
  std::optional<double> inverse_temperature() const override { return beta_; }

  FitOutcome Fit(const FitContext& context) override {
    const TemperatureFit fit = FitTemperature(context, options_);
    beta_ = fit.beta;
    return fit.outcome;
  }

  Json Parameters() const override { return {{"beta", beta_}}; }
  std::vector<Claim> Claims() const override { return {NonNegativeBeta(beta_)}; }
  void SetParameters(const Json& json, int64_t, const std::string& where) override {
    JsonObject object(json, where);
    beta_ = object.Number("beta");
    object.Finish();
    CheckBeta(beta_, options_, where);
  }
  void ApplyTile(const Tile& tile, const TileProbs& out) const override {
    SoftmaxTile(tile, beta_, out);
  }
  std::string AddToGraph(const GraphInput& in, OnnxBuilder* g) const override {
    return g->Softmax(g->Op("Mul", {in.logits, g->Scalar(beta_)}));
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
