// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_sample.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/parallel.h"
#include "core/rng.h"
#include "data/reduce.h"
#include "methods/affine/affine_evaluator.h"
#include "methods/affine/block_voxels.h"

namespace segcal {
namespace {

// The random stream of case c, apart from other uses of the seed.
constexpr uint64_t kExpertStream = 0x4558504552540000;

// A stratum keeps at least this many of its voxels; less where there are so many strata that all
// together would take more than kRareBytes.
constexpr double kRareVoxels = 256.0;
constexpr double kRareBytes = 1 << 26;

// A drawn voxel; `place` orders voxels whatever thread found them.
struct Column {
  std::pair<int64_t, int64_t> place;  // case, voxel
  std::vector<float> features;
  int32_t label = kNoLabel;
  float weight = 1.0f;
};

// The share of its voxels that every stratum keeps, [decision][label].
std::vector<double> ShareOut(const AffineShape& shape,
                             const std::vector<int64_t>& confusion,
                             const std::vector<int64_t>& sizes) {
  const auto n = static_cast<size_t>(shape.num_classes);
  std::vector<double> expert_voxels(static_cast<size_t>(shape.num_experts()), 0.0);
  const auto expert_of = [&](size_t stratum) { return shape.per_decision ? stratum / n : 0; };
  for (size_t s = 0; s < confusion.size(); ++s) {
    expert_voxels[expert_of(s)] += static_cast<double>(confusion[s]);
  }
  const auto strata = static_cast<double>(
      std::count_if(confusion.begin(), confusion.end(), [](int64_t own) { return own > 0; }));
  const double bytes = static_cast<double>(shape.num_features()) * sizeof(float);
  const double rare = std::min(kRareVoxels, kRareBytes / (bytes * std::max(1.0, strata)));
  std::vector<double> shares(confusion.size(), 0.0);
  for (size_t s = 0; s < confusion.size(); ++s) {
    const auto own = static_cast<double>(confusion[s]);
    if (own == 0.0) continue;
    const double proportional =
        static_cast<double>(sizes[expert_of(s)]) / expert_voxels[expert_of(s)];
    shares[s] = std::min(1.0, std::max(proportional, rare / own));
  }
  return shares;
}

// Draws from the tiles one worker sees.
class Drawer {
 public:
  Drawer(const AffineShape& shape, const std::vector<double>& shares, uint64_t seed)
      : shape_(shape),
        shares_(shares),
        seed_(seed),
        evaluator_(shape),
        columns_(static_cast<size_t>(shape.num_experts())) {
    for (int64_t e = 0; e < shape.num_experts(); ++e) single_.emplace_back(shape, e);
  }

  void Add(const Tile& tile, int64_t case_index) {
    const Rng rng(seed_, kExpertStream + static_cast<uint64_t>(case_index));
    evaluator_.LogNorms(tile);
    for (int64_t v = 0; v < tile.count; ++v) {
      if (tile.labels[v] == kNoLabel) continue;
      const auto stratum =
          static_cast<size_t>(tile.decision[v] * shape_.num_classes + tile.labels[v]);
      const int64_t voxel = tile.first_voxel + v;
      if (rng.UniformAt(static_cast<uint64_t>(voxel)) > shares_[stratum]) continue;
      Keep(tile, v, {case_index, voxel}, static_cast<float>(1.0 / shares_[stratum]));
    }
  }
  // Moves: all columns together may take much of the memory.
  void Merge(Drawer&& other) {
    for (size_t e = 0; e < columns_.size(); ++e) {
      std::move(
          other.columns_[e].begin(), other.columns_[e].end(), std::back_inserter(columns_[e]));
      other.columns_[e] = {};
    }
  }
  void Pack(SumWriter* out) const {
    for (const std::vector<Column>& columns : columns_) {
      out->Put(static_cast<int64_t>(columns.size()));
      for (const Column& column : columns) {
        out->Put(column.place.first);
        out->Put(column.place.second);
        out->Put(column.label);
        out->Put(column.weight);
        for (const float feature : column.features) out->Put(feature);
      }
    }
  }
  void Unpack(SumReader* in) {
    for (std::vector<Column>& columns : columns_) {
      columns.resize(static_cast<size_t>(in->TakeCount()));
      for (Column& column : columns) {
        column.place.first = in->Take<int64_t>();
        column.place.second = in->Take<int64_t>();
        column.label = in->Take<int32_t>();
        column.weight = in->Take<float>();
        column.features.resize(static_cast<size_t>(shape_.num_features() - 1));
        for (float& feature : column.features) feature = in->Take<float>();
      }
    }
  }
  // The columns of one expert, in the order of the data.
  std::vector<Column> TakeColumns(size_t expert) {
    std::vector<Column> columns = std::move(columns_[expert]);
    std::sort(columns.begin(), columns.end(), [](const Column& a, const Column& b) {
      return a.place < b.place;
    });
    return columns;
  }

 private:
  void Keep(const Tile& tile, int64_t v, std::pair<int64_t, int64_t> place, float weight) {
    const auto expert = static_cast<size_t>(shape_.per_decision ? tile.decision[v] : 0);
    Column column{.place = place, .features = {}, .label = kNoLabel, .weight = weight};
    column.features.resize(static_cast<size_t>(shape_.num_features() - 1));
    single_[expert].Clear();
    const auto voxel = static_cast<int32_t>(v);
    single_[expert].Add(tile, {&voxel, 1}, evaluator_.log_norms());
    single_[expert].CopyLast(column.features.data(), &column.label);
    columns_[expert].push_back(std::move(column));
  }

  const AffineShape& shape_;
  const std::vector<double>& shares_;
  uint64_t seed_;
  BatchEvaluator evaluator_;
  std::vector<ExpertBatch> single_;           // one voxel at a time
  std::vector<std::vector<Column>> columns_;  // [expert]
};

// Sums go chunk by chunk, whoever computes them.
constexpr size_t kChunks = 4;

void ForEachChunk(const std::vector<ExpertBatch>& batches,
                  int threads,
                  const std::function<void(const ExpertBatch&, size_t chunk)>& work) {
  ParallelFor(static_cast<int64_t>(kChunks), threads, [&](int64_t c, int) {
    const auto chunk = static_cast<size_t>(c);
    for (size_t b = chunk; b < batches.size(); b += kChunks) work(batches[b], chunk);
  });
}

// Batches that blocks choose their voxels from, at most.
constexpr size_t kMostBatches = 128;

double TotalWeight(const ExpertBatch& batch) {
  double sum = 0.0;
  for (int64_t v = 0; v < batch.count(); ++v) sum += static_cast<double>(batch.weights()[v]);
  return sum;
}

void AddTo(const std::vector<double>& part, std::vector<double>* sum) {
  for (size_t i = 0; i < part.size(); ++i) (*sum)[i] += part[i];
}

}  // namespace

ExpertSample::ExpertSample(const CaseStream& stream,
                           const Pooling& pooling,
                           const AffineShape& shape,
                           const std::vector<int64_t>& confusion,
                           const std::vector<int64_t>& sizes,
                           uint64_t seed)
    : shape_(shape),
      batches_(static_cast<size_t>(shape.num_experts())),
      weights_(batches_.size(), 0.0) {
  const std::vector<double> shares = ShareOut(shape, confusion, sizes);
  const auto add = [&](VoxelBlock& block, int64_t c, TileBuffer* buffer, Drawer* drawer) {
    for (int64_t t = 0; t < block.num_tiles(); ++t)
      drawer->Add(block.PoolTileInto(t, pooling, buffer), c);
  };
  Drawer drawer = ReduceBlocks(
      stream, "sample", [&] { return Drawer(shape, shares, seed); }, add);
  for (size_t e = 0; e < batches_.size(); ++e) {
    for (Column& column : drawer.TakeColumns(e)) {
      if (batches_[e].empty() || batches_[e].back().full()) {
        batches_[e].emplace_back(shape, static_cast<int64_t>(e));
      }
      batches_[e].back().AddColumn(column.features.data(), column.label, column.weight);
      weights_[e] += static_cast<double>(column.weight);
      column.features = {};  // not all twice
    }
  }
}

ExpertSums ExpertSample::Evaluate(int64_t expert,
                                  const std::vector<double>& parameters,
                                  bool exact,
                                  int threads) const {
  const ExpertWeights weights(shape_, parameters, exact);
  std::vector<ExpertSums> parts(kChunks);
  for (ExpertSums& part : parts) part.gradient.resize(parameters.size());
  const std::vector<ExpertBatch>& batches = batches_[static_cast<size_t>(expert)];
  ForEachChunk(batches, threads, [&](const ExpertBatch& batch, size_t chunk) {
    ThreadEvaluator(shape_).AddSums(batch, weights, &parts[chunk]);
  });
  for (size_t chunk = 1; chunk < kChunks; ++chunk) {
    parts[0].count += parts[chunk].count;
    parts[0].loss += parts[chunk].loss;
    AddTo(parts[chunk].gradient, &parts[0].gradient);
  }
  return parts[0];
}

std::vector<double> ExpertSample::Hessian(int64_t expert,
                                          const std::vector<double>& parameters,
                                          int threads) const {
  const ExpertWeights weights(shape_, parameters);
  std::vector<std::vector<double>> parts(kChunks);
  const std::vector<ExpertBatch>& batches = batches_[static_cast<size_t>(expert)];
  for (auto& part : parts) part.resize(parameters.size() * parameters.size());
  ForEachChunk(batches, threads, [&](const ExpertBatch& batch, size_t chunk) {
    ThreadEvaluator(shape_).AddHessian(batch, weights, parts[chunk].data());
  });
  for (size_t chunk = 1; chunk < kChunks; ++chunk) AddTo(parts[chunk], &parts[0]);
  CompleteHessian(shape_, parts[0].data());
  return std::move(parts[0]);
}

std::vector<double> ExpertSample::Product(int64_t expert,
                                          const std::vector<double>& parameters,
                                          const std::vector<double>& direction,
                                          const std::vector<char>& wanted,
                                          int threads) const {
  const ExpertWeights weights(shape_, parameters);
  const ExpertWeights change(shape_, direction);
  const SparsePattern pattern = MakePattern(shape_, wanted);
  std::vector<std::vector<double>> parts(kChunks, std::vector<double>(parameters.size()));
  ForEachChunk(
      batches_[static_cast<size_t>(expert)], threads, [&](const ExpertBatch& batch, size_t chunk) {
        ThreadEvaluator(shape_).AddProduct(batch, weights, change, pattern, parts[chunk].data());
      });
  for (size_t chunk = 1; chunk < kChunks; ++chunk) AddTo(parts[chunk], &parts[0]);
  return parts[0];
}

// Of a diagonal map everything is little, of others some voxels are enough.
std::vector<double> ExpertSample::Blocks(int64_t expert,
                                         const std::vector<double>& parameters,
                                         double scale,
                                         int64_t voxels,
                                         int threads) const {
  const ExpertWeights weights(shape_, parameters);
  const std::vector<const ExpertBatch*> batches = SpreadBatches(expert);
  double weight = 0.0;
  for (const ExpertBatch* batch : batches) weight += TotalWeight(*batch);
  if (weight > 0.0) scale *= weights_[static_cast<size_t>(expert)] / weight;
  const BlockLayout layout(shape_);
  const int64_t entries = layout.size * layout.size;
  std::vector<double> blocks(static_cast<size_t>(layout.num_blocks * entries));
  if (shape_.diagonal) {
    for (const ExpertBatch* batch : batches)
      ThreadEvaluator(shape_).AddDiagonalBlocks(*batch, weights, blocks.data());
    for (double& x : blocks) x *= scale;
  } else if (!batches.empty()) {
    const BlockVoxels seen(shape_, batches, weights, threads);
    ParallelFor(layout.num_blocks, threads, [&](int64_t b, int) {
      seen.ComputeBlock(b, voxels, scale, blocks.data() + b * entries);
    });
  }
  return blocks;
}

// So many of an expert's batches as blocks look at, spread over all.
std::vector<const ExpertBatch*> ExpertSample::SpreadBatches(int64_t expert) const {
  const std::vector<ExpertBatch>& all = batches_[static_cast<size_t>(expert)];
  const size_t stride = (all.size() + kMostBatches - 1) / kMostBatches;
  std::vector<const ExpertBatch*> some;
  for (size_t b = 0; b < all.size(); b += stride) some.push_back(&all[b]);
  return some;
}

int64_t ExpertSample::block_bytes() const noexcept {
  size_t most = 0;
  for (const auto& of_expert : batches_) most = std::max(most, of_expert.size());
  const auto batches = static_cast<int64_t>(std::min(most, kMostBatches));
  return shape_.diagonal ? 0 : BlockVoxels::Bytes(shape_, batches * kTileVoxels);
}

int64_t ExpertSample::voxels(int64_t expert) const noexcept {
  int64_t count = 0;
  for (const ExpertBatch& batch : batches_[static_cast<size_t>(expert)]) count += batch.count();
  return count;
}

int64_t ExpertSample::bytes() const noexcept {
  int64_t batches = 0;
  for (const auto& of_expert : batches_) batches += static_cast<int64_t>(of_expert.size());
  return batches * shape_.num_features() * kTileVoxels * int64_t{sizeof(float)};
}

}  // namespace segcal
