// SPDX-License-Identifier: Apache-2.0
#include "methods/tree/tree_calibrator.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "core/json.h"
#include "core/throw.h"
#include "kernels/softmax.h"
#include "methods/shared/applied_loss.h"

namespace segcal {
namespace {

// Names of the filters in the order of the parameters.
constexpr const char* kFilterNames[] = {"t1", "t2", "t3", "t4", "g1", "g2", "g3", "g4", "t5"};

// Far beyond what training reaches, and far from overflow in float32.
constexpr double kMaxTreeWeight = 1e6;

// One filter of the tree: its name and where its parameters lie.
struct FilterPart {
  const char* name;
  size_t first;
  size_t count;
};
std::vector<FilterPart> ListParts(const TreeShape& shape) {
  std::vector<FilterPart> parts;
  size_t first = 0;
  const auto add = [&](int64_t filter, int64_t channels) {
    const auto count = static_cast<size_t>(kTreeTaps * channels + 1);
    parts.push_back({kFilterNames[filter], first, count});
    first += count;
  };
  for (int64_t f = 0; f < shape.score_filters(); ++f) add(f, shape.classes);
  if (shape.has_image()) add(kImageLeaf, shape.image_channels);
  return parts;
}

// One temperature per voxel.
class LocalTemperatures final : public BoundCalibrator {
 public:
  explicit LocalTemperatures(std::vector<float> map) : map_(std::move(map)) {}

  void Apply(const Tile& tile, const TileProbs& out) const override {
    alignas(64) float temperature[kTileVoxels];
    Temperature(tile, temperature);
    LocalSoftmaxTile(tile, temperature, out);
  }
  bool Temperature(const Tile& tile, float* out) const override {
    std::copy_n(map_.begin() + tile.first_voxel, tile.count, out);
    std::fill(out + tile.count, out + kTileVoxels, 1.0f);
    return true;
  }

 private:
  std::vector<float> map_;
};

// One temperature for the case.
class CaseTemperature final : public BoundCalibrator {
 public:
  explicit CaseTemperature(double temperature) : temperature_(temperature) {}

  void Apply(const Tile& tile, const TileProbs& out) const override {
    SoftmaxTile(tile, 1.0 / temperature_, out);
  }
  bool Temperature(const Tile&, float* out) const override {
    std::fill_n(out, kTileVoxels, static_cast<float>(temperature_));
    return true;
  }

 private:
  double temperature_;
};

}  // namespace

ParameterCounts TreeCalibrator::counts(int64_t num_classes) const {
  // Without a fit the channels of the image are not known: those of a colour picture.
  const int64_t image = shape_.classes > 0 ? shape_.image_channels : variant_.image ? 3 : 0;
  const int64_t n = TreeShape{num_classes, image}.num_parameters();
  return {.optimised = n, .identifiable = n};
}

FitOutcome TreeCalibrator::Fit(const FitContext& context) {
  TreeFit fit = FitTree(variant_, options_, context);
  shape_ = fit.shape;
  weights_ = std::move(fit.weights);
  fit.outcome.nll_after = AppliedLoss(context, *this, fmt::format("fit {}, loss", variant_.name));
  return fit.outcome;
}

Json TreeCalibrator::Parameters() const {
  Json json = Json::object();
  for (const FilterPart& part : ListParts(shape_))
    json[part.name] = JsonNumbers(std::span(weights_).subspan(part.first, part.count));
  if (shape_.has_image()) json["image_channels"] = shape_.image_channels;
  return json;
}

std::vector<Claim> TreeCalibrator::Claims() const {
  double largest = 0.0;
  for (const double w : weights_) largest = std::max(largest, std::fabs(w));
  return {{.what = "weights keep temperatures finite, and they are at least 0.001",
           .property = "preserves",
           .found = largest,
           .allowed = kMaxTreeWeight,
           .holds = largest <= kMaxTreeWeight}};
}

void TreeCalibrator::SetParameters(const Json& json,
                                   int64_t num_classes,
                                   const std::string& where) {
  JsonObject object(json, where);
  TreeShape shape{.classes = num_classes};
  if (variant_.image) shape.image_channels = object.Integer("image_channels");
  if (shape.image_channels < (variant_.image ? 1 : 0) || shape.image_channels > 1024) {
    Throw(ErrorCode::kBadData,
          "{}: {} image channels; 1 to 1024 are required",
          where,
          shape.image_channels);
  }
  std::vector<double> weights(static_cast<size_t>(shape.num_parameters()));
  for (const FilterPart& part : ListParts(shape)) {
    const std::vector<double> filter = object.Numbers(part.name, static_cast<int64_t>(part.count));
    for (const double w : filter) {
      if (std::fabs(w) <= kMaxTreeWeight) continue;
      Throw(ErrorCode::kBadData,
            "{}: {} holds {}, at most {} is allowed",
            where,
            part.name,
            w,
            kMaxTreeWeight);
    }
    std::copy(filter.begin(), filter.end(), weights.begin() + static_cast<int64_t>(part.first));
  }
  object.Finish();
  shape_ = shape;
  weights_ = std::move(weights);
}

std::unique_ptr<BoundCalibrator> TreeCalibrator::Bind(const CaseReader& reader,
                                                      const Pooling& pooling,
                                                      const BindOptions& options) const {
  if (shape_.classes == 0) return std::make_unique<CaseTemperature>(1.0);
  TreeWeights packed(shape_);
  packed.Pack(weights_);
  const TreeInput input{
      .pooling = pooling, .scores = variant_.scores, .image_channels = shape_.image_channels};
  std::vector<float> map = TemperatureMap(reader, input, packed, options);
  if (!variant_.whole_case) return std::make_unique<LocalTemperatures>(std::move(map));
  // In the order of the voxels, whoever computed them (IT1).
  const double sum = std::accumulate(map.begin(), map.end(), 0.0);
  return std::make_unique<CaseTemperature>(sum / static_cast<double>(map.size()));
}

}  // namespace segcal
