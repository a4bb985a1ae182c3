// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_calibrator.h"

#include <cmath>
#include <memory>
#include <numeric>

#include "core/json.h"
#include "core/throw.h"
#include "kernels/softmax.h"
#include "methods/affine/affine_location.h"
#include "methods/affine/affine_regularizer.h"
#include "methods/affine/expert_batch.h"
#include "methods/affine/voxels_by_expert.h"

namespace segcal {
namespace {

// Keeps scores finite in float32 for any input; optima that exist are far below.
constexpr double kMaxAffineWeight = 1e6;

// Rounding of sums of doubles when a map is assembled from its parameters; the parameters
// themselves make the sums equal exactly.
constexpr double kRowSumRounding = 1e-6;

// Scratch of one thread; kept because a tile is small and memory for it is not. One batch serves
// all experts, one after the other.
struct AffineWorkspace {
  explicit AffineWorkspace(const AffineShape& s) : shape(s), evaluator(s), voxels(s), batch(s, 0) {}
  AffineShape shape;
  BatchEvaluator evaluator;
  VoxelsByExpert voxels;
  ExpertBatch batch;
};

// Several models take turns on a tile, so several workspaces are kept: each of about 3 C tile rows,
// 0.5 MB at 150 classes.
constexpr size_t kMaxWorkspaces = 8;

AffineWorkspace& WorkspaceFor(const AffineShape& shape) {
  static thread_local std::vector<std::unique_ptr<AffineWorkspace>> kept;
  for (const auto& workspace : kept) {
    if (workspace->shape == shape) return *workspace;
  }
  if (kept.size() == kMaxWorkspaces) kept.erase(kept.begin());
  return *kept.emplace_back(std::make_unique<AffineWorkspace>(shape));
}

// Padding lanes hold a valid distribution too.
void PadTile(const Tile& tile, const TileProbs& out) {
  for (int64_t c = 0; c < tile.num_classes; ++c) {
    std::fill_n(
        out.probs + c * kTileVoxels + tile.count, kTileVoxels - tile.count, c == 0 ? 1.0f : 0.0f);
  }
  std::fill_n(out.log_label + tile.count, kTileVoxels - tile.count, 0.0f);
}

}  // namespace

AffineShape AffineCalibrator::ShapeFor(int64_t num_classes) const {
  return {.space = family_.space,
          .per_decision = family_.per_decision,
          .diagonal = family_.diagonal,
          .num_classes = num_classes};
}

Box AffineCalibrator::BoxFor(const AffineShape& shape) const {
  const auto n = static_cast<size_t>(shape.num_parameters());
  const double most = kMaxAffineWeight * shape.scale;
  Box box{.lower = std::vector<double>(n, shape.gaps() ? 0.0 : -most),
          .upper = std::vector<double>(n, most)};
  const auto features = static_cast<size_t>(shape.num_features());
  for (size_t i = features - 1; i < n; i += features) {  // biases have no unit
    box.lower[i] /= shape.scale;
    box.upper[i] /= shape.scale;
  }
  if (!family_.diagonal) return box;
  for (int64_t r = 0; r < shape.num_rows(); ++r) {
    for (int64_t k = 0; k + 1 < shape.num_features(); ++k) {
      const auto i = static_cast<size_t>(r * shape.num_features() + k);
      if (r != k) box.lower[i] = box.upper[i] = 0.0;
    }
  }
  return box;
}

// Of the parameters in a file: the bias at zero has what the weights are at the centre.
Box AffineCalibrator::FileBoxFor(const AffineShape& shape) const {
  Box box = BoxFor(shape);
  const double room = kMaxAffineWeight * static_cast<double>(shape.num_classes);
  const auto features = static_cast<size_t>(shape.num_features());
  for (size_t i = features - 1; i < box.lower.size(); i += features) {
    box.lower[i] -= room * std::fabs(shape.centre);
    box.upper[i] += room * std::fabs(shape.centre);
  }
  return box;
}

// From what a model file holds: a fit and its file give the same bits.
void AffineCalibrator::Install(const AffineShape& shape, ExpertParameters parameters) {
  shape_ = shape;
  parameters_ = std::move(parameters);
  weights_.clear();
  for (const std::vector<double>& p : parameters_)
    weights_.emplace_back(shape_, ParametersAtCentre(shape_, p));
}

FitOutcome AffineCalibrator::Fit(const FitContext& context) {
  AffineShape shape = ShapeFor(context.stream.dataset().num_classes());
  ExpertParameters parameters(static_cast<size_t>(shape.num_experts()), ScaledIdentity(shape, 1.0));
  if (shape.num_classes < 2) {
    Install(shape, std::move(parameters));
    FitOutcome outcome;
    outcome.solver = "none";
    outcome.status = FitStatus::kNothingToFit;
    outcome.passes = 1;
    return outcome;
  }
  LocateRawLogits(context.sample, family_.name, &shape);
  FitOutcome outcome = FitAffine(shape, BoxFor(shape), options_, context, &parameters);
  for (std::vector<double>& p : parameters) p = ParametersOfLogits(shape, std::move(p));
  shape.scale = 1.0;  // a power of two: it changes no bit of what is emitted
  Install(shape, std::move(parameters));
  return outcome;
}

// One object per expert: rows of weights, and the bias. Scores are W z + b; the centre says from
// where logits are counted when they are computed.
Json AffineCalibrator::Parameters() const {
  Json experts = Json::array();
  for (const std::vector<double>& parameters : parameters_) {
    Json weights = Json::array();
    Json bias = Json::array();
    for (int64_t r = 0; r < shape_.num_rows(); ++r) {
      const double* row = parameters.data() + r * shape_.num_features();
      weights.push_back(std::vector<double>(row, row + shape_.num_features() - 1));
      bias.push_back(row[shape_.num_features() - 1]);
    }
    experts.push_back({{"weights", weights}, {"bias", bias}});
  }
  Json json = {{"experts", experts}};
  if (shape_.centre != 0.0) json["centre"] = shape_.centre;
  return json;
}

// Row sums of the assembled map: its dependence on a shift of all logits.
std::vector<Claim> AffineCalibrator::Claims() const {
  std::vector<Claim> claims;
  const bool by_rows = shape_.gaps() || shape_.space == AffineSpace::kDifferences;
  double spread = 0.0;
  double least = 0.0;
  for (const std::vector<double>& p : parameters_) {
    const std::vector<double> map = AffineRegularizer(shape_, {}).Assemble(p).weights;
    const auto n = static_cast<size_t>(shape_.num_classes);
    const auto row_sum = [&](size_t j) {
      return std::accumulate(&map[j * n], &map[j * n] + n, 0.0);
    };
    for (size_t j = 1; j < n; ++j) spread = std::max(spread, std::fabs(row_sum(j) - row_sum(0)));
    for (const double w : p) least = std::min(least, w);
  }
  if (by_rows) {
    claims.push_back({.what = "the rows of every map sum to one value",
                      .property = "translation_invariant",
                      .found = spread,
                      .allowed = kRowSumRounding,
                      .holds = spread <= kRowSumRounding});
  }
  if (shape_.gaps()) {
    claims.push_back({.what = "every weight and bias between gaps is at least 0",
                      .property = "preserves",
                      .found = least,
                      .allowed = 0.0,
                      .holds = least >= 0.0});
  }
  return claims;
}

void AffineCalibrator::SetParameters(const Json& json,
                                     int64_t num_classes,
                                     const std::string& where) {
  AffineShape shape = ShapeFor(num_classes);
  JsonObject object(json, where);
  const Json& experts = object.Array("experts");
  if (shape.space == AffineSpace::kRaw && object.Has("centre"))
    shape.centre = object.Number("centre");
  if (!(std::fabs(shape.centre) <= kLargestRaw)) {
    Throw(ErrorCode::kBadData,
          "{}: centre is {}, at most {:g} is required",
          where,
          shape.centre,
          kLargestRaw);
  }
  object.Finish();
  if (static_cast<int64_t>(experts.size()) != shape.num_experts()) {
    Throw(ErrorCode::kBadData,
          "{}: {} experts, {} are required",
          where,
          experts.size(),
          shape.num_experts());
  }
  const Box box = FileBoxFor(shape);
  ExpertParameters parameters;
  for (const Json& item : experts) {
    JsonObject expert(item, where + ": experts");
    std::vector<double>& p = parameters.emplace_back();
    const std::vector<double> bias = expert.Numbers("bias");
    const Json& rows = expert.Array("weights");
    expert.Finish();
    bool right = static_cast<int64_t>(bias.size()) == shape.num_rows() &&
                 static_cast<int64_t>(rows.size()) == shape.num_rows();
    for (size_t r = 0; right && r < rows.size(); ++r) {
      right =
          rows[r].is_array() && static_cast<int64_t>(rows[r].size()) == shape.num_features() - 1;
      for (size_t k = 0; right && k < rows[r].size(); ++k) {
        right = rows[r][k].is_number();
        if (right) p.push_back(rows[r][k].get<double>());
      }
      p.push_back(bias[r]);
    }
    if (!right) {
      Throw(ErrorCode::kBadData,
            "{}: an expert must have {} rows of {} weights and a bias each",
            where,
            shape.num_rows(),
            shape.num_features() - 1);
    }
    for (size_t i = 0; i < p.size(); ++i) {
      if (p[i] >= box.lower[i] && p[i] <= box.upper[i]) continue;
      const auto features = static_cast<size_t>(shape.num_features());
      Throw(ErrorCode::kBadData,
            "{}: experts[{}]: number {} of row {} is {}, the method requires {} to {}",
            where,
            parameters.size() - 1,
            i % features,
            i / features,
            p[i],
            box.lower[i],
            box.upper[i]);
    }
  }
  Install(shape, std::move(parameters));
}

void AffineCalibrator::ApplyTile(const Tile& tile, const TileProbs& out) const {
  if (shape_.num_classes < 2) return SoftmaxTile(tile, 1.0, out);
  AffineWorkspace& work = WorkspaceFor(shape_);
  work.evaluator.LogNorms(tile);
  work.voxels.Assign(tile, /*labelled_only=*/false);
  PadTile(tile, out);
  for (int64_t e = 0; e < shape_.num_experts(); ++e) {
    const std::span<const int32_t> own = work.voxels.of(e);
    if (own.empty()) continue;
    ExpertBatch& batch = work.batch;
    batch.Restart(e);
    batch.Add(tile, own, work.evaluator.log_norms());
    const TileProbs probs =
        work.evaluator.Probabilities(batch, weights_[static_cast<size_t>(e)], false);
    batch.Scatter(probs.probs, out.probs);
    for (size_t i = 0; i < own.size(); ++i) out.log_label[own[i]] = probs.log_label[i];
  }
}

}  // namespace segcal
