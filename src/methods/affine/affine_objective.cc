// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_objective.h"

#include <algorithm>

#include "data/reduce.h"
#include "methods/affine/affine_evaluator.h"
#include "methods/affine/expert_batch.h"
#include "methods/affine/voxels_by_expert.h"

namespace segcal {
namespace {

// Sums of all experts, order-free between blocks. Experts without voxels take no memory.
class AffineTotals {
 public:
  explicit AffineTotals(const AffineShape& shape)
      : num_parameters_(static_cast<size_t>(shape.num_parameters())),
        experts_(static_cast<size_t>(shape.num_experts())) {}

  ExpertSums* pending(int64_t expert, bool with_gradient) {
    Expert& e = experts_[static_cast<size_t>(expert)];
    if (with_gradient) {
      e.pending.gradient.resize(num_parameters_);
      e.gradient.resize(num_parameters_);
    }
    return &e.pending;
  }

  void Flush() noexcept {
    for (Expert& e : experts_) {
      if (e.pending.count == 0.0) continue;
      e.count += static_cast<int64_t>(e.pending.count);
      e.loss.Add(e.pending.loss);
      for (size_t k = 0; k < e.gradient.size(); ++k) e.gradient[k].Add(e.pending.gradient[k]);
      std::fill(e.pending.gradient.begin(), e.pending.gradient.end(), 0.0);
      e.pending.count = 0.0;
      e.pending.loss = 0.0;
    }
  }
  static constexpr auto SumFields() { return std::tuple(&AffineTotals::experts_); }
  std::vector<ExpertSums> Sums() const {
    std::vector<ExpertSums> sums(experts_.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i].count = static_cast<double>(experts_[i].count);
      sums[i].loss = experts_[i].loss.value();
      for (const ExactSum& sum : experts_[i].gradient) sums[i].gradient.push_back(sum.value());
      sums[i].gradient.resize(num_parameters_);
    }
    return sums;
  }

 private:
  struct Expert {
    ExpertSums pending;
    int64_t count = 0;
    ExactSum loss;
    std::vector<ExactSum> gradient;  // empty without voxels

    static constexpr auto SumFields() {
      return std::tuple(&Expert::count, &Expert::loss, &Expert::gradient);
    }
  };
  size_t num_parameters_;
  std::vector<Expert> experts_;
};

// One worker's batches: full ones are evaluated at once, the rest at the end of a block.
class Worker {
 public:
  Worker(const AffineShape& shape, const std::vector<ExpertWeights>& weights, bool with_gradient)
      : shape_(shape),
        weights_(weights),
        with_gradient_(with_gradient),
        evaluator_(shape),
        voxels_(shape),
        totals_(shape) {
    for (int64_t e = 0; e < shape.num_experts(); ++e) batches_.emplace_back(shape, e);
  }

  void Add(const Tile& tile) {
    evaluator_.LogNorms(tile);
    voxels_.Assign(tile, /*labelled_only=*/true);
    for (int64_t e = 0; e < shape_.num_experts(); ++e) {
      ExpertBatch& batch = batches_[static_cast<size_t>(e)];
      std::span<const int32_t> left = voxels_.of(e);
      while (!left.empty()) {
        const auto taken = std::min(left.size(), static_cast<size_t>(batch.room()));
        batch.Add(tile, left.first(taken), evaluator_.log_norms());
        left = left.subspan(taken);
        if (batch.full()) Evaluate(e);
      }
    }
  }
  void Flush() {
    for (int64_t e = 0; e < shape_.num_experts(); ++e) {
      if (batches_[static_cast<size_t>(e)].count() > 0) Evaluate(e);
    }
    totals_.Flush();
  }
  static constexpr auto SumFields() { return std::tuple(&Worker::totals_); }
  std::vector<ExpertSums> Sums() const { return totals_.Sums(); }

 private:
  void Evaluate(int64_t expert) {
    ExpertBatch& batch = batches_[static_cast<size_t>(expert)];
    const ExpertWeights& weights = weights_[static_cast<size_t>(expert)];
    ExpertSums* sums = totals_.pending(expert, with_gradient_);
    if (with_gradient_) {
      evaluator_.AddSums(batch, weights, sums);
    } else {
      evaluator_.AddLoss(batch, weights, sums);
    }
    batch.Clear();
  }

  const AffineShape& shape_;
  const std::vector<ExpertWeights>& weights_;
  bool with_gradient_;
  BatchEvaluator evaluator_;
  VoxelsByExpert voxels_;
  AffineTotals totals_;
  std::vector<ExpertBatch> batches_;
};

std::vector<ExpertSums> SumOverCases(const CaseStream& stream,
                                     const std::string& stage,
                                     const Pooling& pooling,
                                     const AffineShape& shape,
                                     const std::vector<ExpertWeights>& weights,
                                     bool with_gradient) {
  const auto add = [&](VoxelBlock& block, int64_t, TileBuffer* buffer, Worker* worker) {
    for (int64_t t = 0; t < block.num_tiles(); ++t)
      worker->Add(block.PoolTileInto(t, pooling, buffer));
  };
  return ReduceBlocks(
             stream, stage, [&] { return Worker(shape, weights, with_gradient); }, add)
      .Sums();
}

}  // namespace

std::vector<ExpertSums> AffinePass(const CaseStream& stream,
                                   const std::string& stage,
                                   const Pooling& pooling,
                                   const AffineShape& shape,
                                   const ExpertParameters& parameters,
                                   const std::vector<char>& exact) {
  std::vector<ExpertWeights> weights;
  weights.reserve(parameters.size());
  for (size_t e = 0; e < parameters.size(); ++e)
    weights.emplace_back(shape, parameters[e], !exact.empty() && exact[e] != 0);
  return SumOverCases(stream, stage, pooling, shape, weights, /*with_gradient=*/true);
}

LossTotal TotalLoss(const CaseStream& stream,
                    const Pooling& pooling,
                    const AffineShape& shape,
                    const ExpertParameters& parameters) {
  std::vector<ExpertWeights> weights;
  weights.reserve(parameters.size());
  for (const std::vector<double>& p : parameters) weights.emplace_back(shape, p);
  LossTotal total;
  for (const ExpertSums& sums :
       SumOverCases(stream, "validate", pooling, shape, weights, /*with_gradient=*/false)) {
    total.loss += sums.loss;
    total.voxels += sums.count;
  }
  return total;
}

}  // namespace segcal
