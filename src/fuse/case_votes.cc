// SPDX-License-Identifier: Apache-2.0
#include "fuse/case_votes.h"

#include <algorithm>
#include <array>

#include "core/parallel.h"
#include "core/throw.h"
#include "data/input_check.h"
#include "data/voxel_block.h"
#include "pipeline/emit_case.h"

namespace segcal {
namespace {

// Calls work(first, count, worker) for all blocks of voxels, in parallel.
template <class Work>
void ForBlocks(int64_t voxels, int threads, const Work& work) {
  const int64_t blocks = (voxels + kBlockVoxels - 1) / kBlockVoxels;
  ParallelFor(blocks, threads, [&](int64_t b, int worker) {
    const int64_t first = b * kBlockVoxels;
    work(first, std::min(kBlockVoxels, voxels - first), worker);
  });
}

// What one worker reads of a block.
struct BlockVotes {
  std::vector<uint16_t> labels;    // [candidate][voxel]
  std::vector<float> reliability;  // the same
  std::vector<uint16_t> voxel_labels;
  std::vector<double> voxel_reliability;

  // The votes on voxel v of a block of `count`.
  VoxelVotes Gather(int64_t v, int64_t count) {
    for (size_t i = 0; i < voxel_labels.size(); ++i) {
      const size_t at = i * static_cast<size_t>(count) + static_cast<size_t>(v);
      voxel_labels[i] = labels[at];
      if (!reliability.empty()) voxel_reliability[i] = static_cast<double>(reliability[at]);
    }
    return {voxel_labels, voxel_reliability};
  }
};

// Who votes for nothing is replaced by the background; without one the voxel cannot be decided.
uint16_t BackgroundLabel(const Dataset& dataset, const std::string& id, int64_t voxel) {
  if (dataset.background) return static_cast<uint16_t>(*dataset.background);
  Throw(ErrorCode::kBadData,
        "case {}: voxel {}: no label wins, and the data set names no background to fall back on",
        id,
        voxel);
}

CaseReader OpenFirst(const Dataset& dataset, const Case& entry, const RunOptions& run) {
  CaseReader reader = OpenVote(dataset, entry, 0, run);
  CheckInputKind(reader);
  return reader;
}

}  // namespace

CaseVotes::CaseVotes(const Dataset& dataset, const Case& entry, const RunOptions& run)
    : dataset_(dataset),
      entry_(entry),
      run_(run),
      threads_(run.threads > 0 ? run.threads : AvailableThreads()),
      shape_(OpenFirst(dataset, entry, run).shape()),
      geometry_(FindGeometry(dataset, entry, shape_, run)),
      grid_(MakeGrid(shape_, geometry_.spacing)),
      table_(static_cast<int64_t>(entry.members.size()), grid_.num_voxels(), run),
      truth_(ReadTruth(dataset, entry, run)) {
  if (!truth_.empty() && std::ssize(truth_) != voxels()) {
    Throw(ErrorCode::kBadData,
          "case {}: labels of {} voxels, the candidates have {} ({})",
          entry.id,
          truth_.size(),
          voxels(),
          fmt::join(shape_, ", "));
  }
  if (!entry.candidates.empty()) ReadLabelMaps();
}

void CaseVotes::ReadLabelMaps() {
  for (int64_t i = 0; i < table_.candidates(); ++i) {
    const CandidateMap map(dataset_, entry_, i, shape_, run_);
    ForBlocks(voxels(), threads_, [&](int64_t first, int64_t count, int) {
      std::vector<uint16_t> labels(static_cast<size_t>(count));
      map.Read(first, labels);
      table_.WriteLabels(i, first, labels);
    });
  }
  FindDisputed();
}

void CaseVotes::FindDisputed() {
  disputed_.assign(static_cast<size_t>(voxels()), 0);
  ForBlocks(voxels(), threads_, [&](int64_t first, int64_t count, int) {
    std::vector<uint16_t> labels;
    table_.ReadLabels(first, count, &labels);
    for (size_t i = 1; i < static_cast<size_t>(table_.candidates()); ++i) {
      for (size_t v = 0; v < static_cast<size_t>(count); ++v) {
        if (labels[i * static_cast<size_t>(count) + v] != labels[v])
          disputed_[static_cast<size_t>(first) + v] = 1;
      }
    }
  });
}

std::vector<uint16_t> CaseVotes::Fuse(const ModelState& model,
                                      const FusionInfo& method,
                                      const FuseOptions& options) {
  const bool maps = !entry_.candidates.empty();
  for (int64_t i = 0; i < table_.candidates(); ++i) {
    const CaseReader reader = OpenVote(dataset_, entry_, i, run_);
    CheckInputKind(reader);
    if (reader.shape() != shape_) {
      Throw(ErrorCode::kBadData,
            "case {}: candidate {} has shape ({}), candidate 0 has ({})",
            id(),
            i,
            fmt::join(reader.shape(), ", "),
            fmt::join(shape_, ", "));
    }
    const auto bound = model.calibrator->Bind(reader, model.spec.pooling, {.threads = threads_});
    EmitCase(model, *bound, reader, threads_, [&](const EmittedTile& emitted, int) {
      const Tile& tile = emitted.tile;
      std::array<float, kTileVoxels> reliability;
      for (int64_t v = 0; v < tile.count; ++v) {
        const int64_t c = maps ? 1 : tile.decision[v];
        reliability[static_cast<size_t>(v)] = emitted.probs.probs[c * kTileVoxels + v];
      }
      const auto count = static_cast<size_t>(tile.count);
      table_.WriteReliability(i, tile.first_voxel, std::span(reliability).first(count));
      if (!maps) table_.WriteLabels(i, tile.first_voxel, {tile.decision, count});
    });
  }
  if (disputed_.empty()) FindDisputed();
  return Decide(method, options, /*perfectly_calibrated=*/false);
}

std::vector<uint16_t> CaseVotes::FusePerfectlyCalibrated(const FusionInfo& method,
                                                         const FuseOptions& options) const {
  return Decide(method, options, /*perfectly_calibrated=*/true);
}

std::vector<uint16_t> CaseVotes::Decide(const FusionInfo& method,
                                        const FuseOptions& options,
                                        bool perfectly_calibrated) const {
  std::vector<uint16_t> fused(static_cast<size_t>(voxels()));
  const auto n = static_cast<size_t>(table_.candidates());
  const double doubtful = 1.0 / static_cast<double>(dataset_.num_classes());
  ForBlocks(voxels(), threads_, [&](int64_t first, int64_t count, int) {
    Voter voter(method, options, table_.candidates());
    BlockVotes block;
    block.voxel_labels.resize(n);
    block.voxel_reliability.resize(n);
    table_.ReadLabels(first, count, &block.labels);
    if (!perfectly_calibrated) table_.ReadReliability(first, count, &block.reliability);
    for (int64_t v = 0; v < count; ++v) {
      const auto at = static_cast<size_t>(first + v);
      const VoxelVotes votes = block.Gather(v, count);
      for (size_t i = 0; perfectly_calibrated && i < n; ++i)
        block.voxel_reliability[i] = votes.labels[i] == truth_[at] ? 1.0 : doubtful;
      const uint16_t label = voter.Decide(votes);
      fused[at] = label == kAbstains ? BackgroundLabel(dataset_, id(), first + v) : label;
    }
  });
  return fused;
}

std::vector<uint16_t> CaseVotes::FusePerfectly(const std::vector<uint16_t>& fused) const {
  std::vector<uint16_t> best = fused;
  ForBlocks(voxels(), threads_, [&](int64_t first, int64_t count, int) {
    std::vector<uint16_t> labels;
    table_.ReadLabels(first, count, &labels);
    for (size_t k = 0; k < labels.size(); ++k) {
      const size_t at = static_cast<size_t>(first) + k % static_cast<size_t>(count);
      if (truth_[at] == labels[k]) best[at] = labels[k];
    }
  });
  return best;
}

}  // namespace segcal
