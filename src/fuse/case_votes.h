// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuse/method.h"
#include "fuse/votes.h"
#include "pipeline/model.h"
#include "spatial/grid.h"

namespace segcal {

// Everything about one case that ways to fuse share: the candidates' labels, the truth, and where
// candidates differ.
class CaseVotes {
 public:
  CaseVotes(const Dataset& dataset, const Case& entry, const RunOptions& run);

  const std::string& id() const noexcept { return entry_.id; }
  const std::vector<int64_t>& shape() const noexcept { return shape_; }
  // A file whose orientation and spacing are those of the case, or empty.
  const std::string& geometry_file() const noexcept { return geometry_.file; }
  const VoxelGrid& grid() const noexcept { return grid_; }
  int64_t voxels() const noexcept { return table_.voxels(); }
  // Empty without labels.
  const std::vector<int32_t>& truth() const noexcept { return truth_; }
  // Not zero where two candidates have different labels.
  const std::vector<uint8_t>& disputed() const noexcept { return disputed_; }

  // The segmentation with the reliabilities that a model gives.
  std::vector<uint16_t> Fuse(const ModelState& model,
                             const FusionInfo& method,
                             const FuseOptions& options);
  // With the reliabilities of a perfect calibrator (FU7). Needs the truth.
  std::vector<uint16_t> FusePerfectlyCalibrated(const FusionInfo& method,
                                                const FuseOptions& options) const;
  // The truth where any candidate has it, else what `fused` says (FU8). Needs the truth.
  std::vector<uint16_t> FusePerfectly(const std::vector<uint16_t>& fused) const;

 private:
  void ReadLabelMaps();
  void FindDisputed();
  std::vector<uint16_t> Decide(const FusionInfo& method,
                               const FuseOptions& options,
                               bool perfectly_calibrated) const;

  const Dataset& dataset_;
  const Case& entry_;
  RunOptions run_;
  int threads_;
  std::vector<int64_t> shape_;
  CaseGeometry geometry_;
  VoxelGrid grid_;
  VoteTable table_;
  std::vector<int32_t> truth_;
  std::vector<uint8_t> disputed_;
};

}  // namespace segcal
