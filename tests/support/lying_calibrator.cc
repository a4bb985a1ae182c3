// SPDX-License-Identifier: Apache-2.0
#include "tests/support/lying_calibrator.h"

#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "kernels/softmax.h"
#include "pipeline/model.h"

namespace segcal {
namespace {

struct LyingOptions {
  std::string lie = "none";

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("lie",
          self.lie,
          OneOf({"none",
                 "decision",
                 "order",
                 "offset",
                 "rows",
                 "nan",
                 "parameters",
                 "image",
                 "honest"}));
  }
};

class LyingCalibrator final : public PixelCalibrator {
 public:
  static constexpr const char* kName = "lying";
  explicit LyingCalibrator(const LyingOptions& options) : lie_(options.lie) {}

  Properties properties() const override {
    if (lie_ == "honest") return {};
    return {.translation_invariant = true, .preserves = Preserves::kOrder};
  }
  Needs needs() const override { return {.halo = 0, .image = lie_ == "image"}; }
  ParameterCounts counts(int64_t) const override { return {}; }
  FitOutcome Fit(const FitContext&) override { return {}; }
  Json Parameters() const override { return Json::object(); }
  void SetParameters(const Json& json, int64_t, const std::string& where) override {
    JsonObject(json, where).Finish();
  }
  std::vector<Claim> Claims() const override {
    return {{.what = "the answer is at most 41",
             .property = "preserves",
             .found = lie_ == "parameters" ? 42.0 : 40.0,
             .allowed = 41.0,
             .holds = lie_ != "parameters"}};
  }

  void ApplyTile(const Tile& tile, const TileProbs& out) const override {
    SoftmaxTile(tile, 1.0, out);
    for (int64_t v = 0; v < tile.count; ++v) {
      const auto at = [&](int64_t c) -> float& {
        return out.probs[(c % tile.num_classes) * kTileVoxels + v];
      };
      const int64_t winner = tile.decision[v];
      if (lie_ == "decision") std::swap(at(winner), at(winner + 1));
      if (lie_ == "order" || lie_ == "honest") std::swap(at(winner + 1), at(winner + 2));
      if (lie_ == "nan" && at(winner) < 0.5f) at(winner) = NAN;
      for (int64_t c = 0; c < tile.num_classes; ++c) {
        if (lie_ == "rows") at(c) *= 1.001f;
        if ((lie_ == "offset" || lie_ == "honest") && tile.offset[v] > 0.0)
          at(c) = 0.5f * at(c) + 0.5f / static_cast<float>(tile.num_classes);
      }
    }
  }

 private:
  std::string lie_;
};

}  // namespace

extern constinit const CalibratorInfo kLying{.name = "lying",
                                             .summary = "Is not what it declares.",
                                             .reference = "",
                                             .page = "none",
                                             .default_options = &DefaultOptions<LyingOptions>,
                                             .make = &MakeWith<LyingCalibrator, LyingOptions>};

namespace testing {

Model LyingModel(const std::string& lie,
                 const std::vector<std::string>& classes,
                 InputKind input,
                 const std::string& pooling) {
  auto state = std::make_shared<ModelState>();
  state->spec = {.stages = {"lying"}, .pooling = ParsePooling(pooling), .options = {{"lie", lie}}};
  state->pipeline = FormatPipeline(state->spec);
  state->classes = classes;
  state->input = input;
  state->floor = InputFloor(input);
  state->calibrator = kLying.make(state->spec.options, nullptr);
  return ModelAccess::Make(std::move(state));
}

}  // namespace testing
}  // namespace segcal
