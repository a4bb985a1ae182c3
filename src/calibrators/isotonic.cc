// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/json.h"
#include "core/options.h"
#include "core/throw.h"
#include "methods/shared/applied_loss.h"
#include "methods/shared/calibrator_info.h"
#include "methods/shared/class_cells.h"
#include "methods/shared/graph.h"
#include "methods/shared/map_probs.h"
#include "methods/shared/monotone_map.h"

namespace segcal {
namespace {

// Share of p that the pooled map gets on top, so that it is strictly increasing (IR6).
constexpr double kStrictness = 1e-6;

struct IsotonicOptions {
  // Distinct probabilities kept apart, over all classes, before neighbours are grouped (IR4).
  int64_t cells = 262144;
  // Trials added to every block, half of them successes (IR3); 0 gives plain isotonic regression.
  double smoothing = 1.0;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("cells", self.cells, Between(1000, 1e8));
    field("smoothing", self.smoothing, Between(0.0, 1e6));
  }
};

// q_c proportional to g(p_c): one non-decreasing g for all classes (`irm`), or one for each
// (`irova`) (IR1-IR6).
template <bool kPooled>
class IsotonicCalibration final : public PixelCalibrator {
 public:
  static constexpr const char* kName = kPooled ? "irm" : "irova";
  explicit IsotonicCalibration(const IsotonicOptions& options) : options_(options) {}

  Properties properties() const override {
    return {.translation_invariant = true,
            .preserves = kPooled ? Preserves::kOrder : Preserves::kNone};
  }
  // The heights of the fitted steps: how many, the data decide. Before a fit one for each map.
  ParameterCounts counts(int64_t num_classes) const override {
    int64_t blocks = 0;
    for (const MonotoneMap& map : maps_) blocks += map.num_blocks();
    if (maps_.empty()) blocks = kPooled ? 1 : num_classes;
    return {.optimised = blocks, .identifiable = blocks};
  }

  FitOutcome Fit(const FitContext& context) override {
    const std::string stage = fmt::format("fit {}", kName);
    maps_.clear();
    int dropped = 0;
    for (const ProbCells& cells : CountProbs(context, !kPooled, options_.cells, stage)) {
      maps_.emplace_back(cells.Sorted(), options_.smoothing);
      dropped = std::max(dropped, cells.dropped_bits());
    }
    FitOutcome outcome;
    outcome.solver = "pool adjacent violators, ";
    outcome.solver += dropped == 0
                          ? "every value apart"
                          : fmt::format("values grouped to 2^{} of p or 1 - p", dropped - 23);
    outcome.status = FitStatus::kConverged;
    outcome.passes = 3;  // the survey, the counts, the loss
    outcome.nll_after = AppliedLoss(context, *this, stage + ", loss");
    return outcome;
  }

  Json Parameters() const override {
    Json maps = Json::array();
    for (const MonotoneMap& map : maps_) maps.push_back(map.ToJson());
    return {{"maps", maps}};
  }

  std::vector<Claim> Claims() const override {
    if constexpr (!kPooled) return {};
    double rise = 0.0;
    for (const MonotoneMap& map : maps_) rise = std::min(rise, map.SmallestRise());
    return {{.what = "the values of the map never decrease",
             .property = "preserves",
             .found = rise,
             .allowed = 0.0,
             .holds = rise >= 0.0}};
  }

  void SetParameters(const Json& json, int64_t num_classes, const std::string& where) override {
    JsonObject object(json, where);
    const Json& list = object.Array("maps");
    object.Finish();
    const auto wanted = static_cast<size_t>(kPooled ? 1 : num_classes);
    if (list.size() != wanted) {
      Throw(ErrorCode::kBadData, "{}: {} maps, {} are required", where, list.size(), wanted);
    }
    std::vector<MonotoneMap> maps;
    for (const Json& map : list) {
      maps.push_back(MonotoneMap::FromJson(map, fmt::format("{}: maps[{}]", where, maps.size())));
    }
    maps_ = std::move(maps);
  }

  void ApplyTile(const Tile& tile, const TileProbs& out) const override {
    SEGCAL_DCHECK(!maps_.empty());
    const auto g = [this](int64_t c, float p) {
      if constexpr (kPooled) return maps_[0].At(p) + kStrictness * static_cast<double>(p);
      return maps_[static_cast<size_t>(c)].At(p);
    };
    MapProbsTile(tile, g, out);
  }
  std::string AddToGraph(const GraphInput& in, OnnxBuilder* g) const override {
    SEGCAL_DCHECK(!maps_.empty());
    const std::string probs = g->Softmax(in.logits);
    std::string mapped = MonotoneMap::AddToGraph(maps_, probs, g);
    if constexpr (kPooled)
      mapped = g->Op("Add", {mapped, g->Op("Mul", {probs, g->Scalar(kStrictness)})});
    return RenormaliseInGraph(mapped, probs, g);
  }

 private:
  IsotonicOptions options_;
  std::vector<MonotoneMap> maps_;
};

using PooledIsotonic = IsotonicCalibration<true>;
using ClasswiseIsotonic = IsotonicCalibration<false>;

}  // namespace

extern constinit const CalibratorInfo kPooledIsotonic{
    .name = "irm",
    .summary = "Maps every probability by one isotonic function, then renormalises.",
    .reference = "Zhang20",
    .page = "isotonic",
    .default_options = &DefaultOptions<IsotonicOptions>,
    .make = &MakeWith<PooledIsotonic, IsotonicOptions>};

extern constinit const CalibratorInfo kClasswiseIsotonic{
    .name = "irova",
    .summary = "Maps each class by its own isotonic function, then renormalises.",
    .reference = "Zadrozny02",
    .page = "isotonic",
    .default_options = &DefaultOptions<IsotonicOptions>,
    .make = &MakeWith<ClasswiseIsotonic, IsotonicOptions>};

}  // namespace segcal
