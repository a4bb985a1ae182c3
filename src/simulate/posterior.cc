// SPDX-License-Identifier: Apache-2.0
#include "simulate/posterior.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "simulate/fields.h"
#include "simulate/labels.h"

namespace segcal {
namespace {

constexpr double kVoidLength = 0.03;  // size of void patches, in parts of the shorter side

void Gather(const std::vector<double>& pooled,
            int64_t num_voxels,
            int64_t v,
            std::span<double> out) {
  for (size_t c = 0; c < out.size(); ++c) {
    out[c] = pooled[static_cast<size_t>(static_cast<int64_t>(c) * num_voxels + v)];
  }
}

// Mean over the classes of the log-probability: 0 at best, the lower the sharper the prediction.
std::vector<double> Sharpness(const SimulationPlan& plan, const std::vector<double>& pooled) {
  std::vector<double> sharpness(static_cast<size_t>(plan.num_voxels));
  ForVoxelBlocks(plan, [&](int64_t, int64_t first, int64_t end) {
    std::vector<double> z(static_cast<size_t>(plan.num_classes()));
    for (int64_t v = first; v < end; ++v) {
      Gather(pooled, plan.num_voxels, v, z);
      LogSoftmax(z);
      double sum = 0.0;
      for (const double x : z) sum += x;
      sharpness[static_cast<size_t>(v)] = sum / static_cast<double>(z.size());
    }
  });
  return sharpness;
}

// Draws voxels one by one; the scratch is for one thread.
class TruthDrawer {
 public:
  TruthDrawer(const SimulationPlan& plan, const TrueMap& map, const LabelNoise& noise)
      : plan_(plan),
        map_(map),
        noise_(noise),
        logits_(static_cast<size_t>(plan.num_classes())),
        log_eta_(logits_.size()) {}

  void Draw(const std::vector<double>& pooled,
            double local_sharpness,
            bool is_void,
            int64_t v,
            CaseTruth* truth) {
    Gather(pooled, plan_.num_voxels, v, logits_);
    const int64_t decision = ArgMax(logits_);
    map_.Scores({logits_, decision, local_sharpness}, log_eta_);
    LogSoftmax(log_eta_);
    for (size_t c = 0; c < log_eta_.size(); ++c) {
      truth->eta[static_cast<size_t>(static_cast<int64_t>(c) * plan_.num_voxels + v)] =
          static_cast<float>(std::exp(log_eta_[c]));
    }
    const int64_t label = DrawLabel(log_eta_, noise_, v);
    truth->labels[static_cast<size_t>(v)] = is_void ? kVoidLabel : static_cast<uint8_t>(label);
    ++sums_.num_voxels;
    if (!is_void) Count(label, decision);
  }
  const TruthSums& sums() const noexcept { return sums_; }

 private:
  void Count(int64_t label, int64_t decision) {
    ++sums_.num_labelled;
    if (label == decision) ++sums_.num_correct;
    sums_.true_nll -= log_eta_[static_cast<size_t>(label)];
    for (const double x : log_eta_) sums_.true_entropy -= std::exp(x) * std::max(x, -700.0);
    LogSoftmax(logits_);
    sums_.stored_nll -= logits_[static_cast<size_t>(label)];
    sums_.stored_confidence += std::exp(logits_[static_cast<size_t>(decision)]);
  }

  const SimulationPlan& plan_;
  const TrueMap& map_;
  const LabelNoise& noise_;
  std::vector<double> logits_;
  std::vector<double> log_eta_;
  TruthSums sums_;
};

}  // namespace

void TruthSums::Add(const TruthSums& other) noexcept {
  num_voxels += other.num_voxels;
  num_labelled += other.num_labelled;
  num_correct += other.num_correct;
  true_nll += other.true_nll;
  true_entropy += other.true_entropy;
  stored_nll += other.stored_nll;
  stored_confidence += other.stored_confidence;
}

std::vector<bool> VoidVoxels(const SimulationPlan& plan, const CaseStreams& streams) {
  std::vector<bool> is_void(static_cast<size_t>(plan.num_voxels), false);
  if (!plan.HasVoid()) return is_void;
  const std::vector<float> field = GaussianField(
      plan.shape(), InVoxels(kVoidLength, plan.shape()), streams.Of(StreamUse::kVoid));
  for (size_t v = 0; v < field.size(); ++v) {
    is_void[v] = NormalUpperTail(static_cast<double>(field[v])) < plan.options.ignore_fraction;
  }
  return is_void;
}

CaseTruth DrawTruth(const SimulationPlan& plan,
                    const TrueMap& map,
                    const std::vector<double>& pooled,
                    const CaseStreams& streams) {
  const SimulateOptions& options = plan.options;
  const LabelNoise noise(
      plan.shape(), plan.num_classes(), options.correlation, streams, options.threads);
  const std::vector<bool> is_void = VoidVoxels(plan, streams);
  std::vector<double> local(static_cast<size_t>(plan.num_voxels), 0.0);
  if (map.NeedsNeighbours()) {
    local = LocalSharpness(plan.shape(), Sharpness(plan, pooled), options.threads);
  }
  CaseTruth truth;
  truth.eta.resize(pooled.size());
  truth.labels.resize(static_cast<size_t>(plan.num_voxels));
  std::vector<TruthSums> block_sums(static_cast<size_t>(NumVoxelBlocks(plan)));
  ForVoxelBlocks(plan, [&](int64_t block, int64_t first, int64_t end) {
    TruthDrawer drawer(plan, map, noise);
    for (int64_t v = first; v < end; ++v) {
      drawer.Draw(
          pooled, local[static_cast<size_t>(v)], is_void[static_cast<size_t>(v)], v, &truth);
    }
    block_sums[static_cast<size_t>(block)] = drawer.sums();
  });
  for (const TruthSums& sums : block_sums) truth.sums.Add(sums);
  return truth;
}

}  // namespace segcal
