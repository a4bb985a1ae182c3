// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/json.h"
#include "core/options.h"
#include "kernels/softmax.h"
#include "methods/shared/calibrator_info.h"
#include "methods/shared/graph.h"

namespace segcal {
namespace {

// The uncalibrated baseline: q = softmax(z), of the pooled prediction.
class NoCalibration final : public PixelCalibrator {
 public:
  static constexpr const char* kName = "none";
  explicit NoCalibration(const NoOptions&) {}

  Properties properties() const override {
    return {.translation_invariant = true, .preserves = Preserves::kOrder};
  }
  ParameterCounts counts(int64_t) const override { return {}; }

  FitOutcome Fit(const FitContext& context) override {
    const auto n = static_cast<double>(context.survey.labelled);
    FitOutcome outcome;
    outcome.solver = "none";
    outcome.status = FitStatus::kNothingToFit;
    outcome.passes = 1;
    outcome.nll_after = context.survey.at_one.loss / n;
    return outcome;
  }
  Json Parameters() const override { return Json::object(); }
  void SetParameters(const Json& json, int64_t, const std::string& where) override {
    JsonObject(json, where).Finish();
  }
  void ApplyTile(const Tile& tile, const TileProbs& out) const override {
    SoftmaxTile(tile, 1.0, out);
  }
  std::string AddToGraph(const GraphInput& in, OnnxBuilder* g) const override {
    return g->Softmax(in.logits);
  }
  bool TemperatureTile(const Tile&, float* out) const override {
    std::fill_n(out, kTileVoxels, 1.0f);
    return true;
  }
};

}  // namespace

extern constinit const CalibratorInfo kNone{
    .name = "none",
    .summary = "Leaves the pooled prediction as it is: the baseline.",
    .reference = "",
    .page = "none",
    .default_options = &DefaultOptions<NoOptions>,
    .make = &MakeWith<NoCalibration, NoOptions>};

}  // namespace segcal
