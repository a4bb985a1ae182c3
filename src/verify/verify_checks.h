// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/emit.h"
#include "pipeline/model.h"
#include "verify/verify_rows.h"

namespace segcal {

// Source, voxel and position of voxel v of the current tile.
using Describe = std::function<CounterExample(int64_t v)>;

// What is checked about the values a model emits for each voxel: rows are distributions, the
// decision is kept, the order is kept; in float32 and float16.
class EmittedChecks {
 public:
  EmittedChecks(const ModelState& model, int64_t max_examples);

  // scores [C][kTileVoxels] decide which class stands above which. Masked voxels are left out:
  // `apply` does not calibrate them.
  void Add(const BoundCalibrator& bound,
           const Tile& tile,
           const double* scores,
           int64_t case_index,
           const Describe& describe);
  void Merge(const EmittedChecks& other);
  std::vector<VerifyCheck> Finish(const std::string& input) const;

 private:
  struct Tallies {
    explicit Tallies(int64_t max_examples)
        : rows(max_examples), decision(max_examples), order(max_examples) {}
    Tally rows;
    Tally decision;
    Tally order;
  };
  // Where a tile comes from, and what its voxels are called.
  struct Origin {
    int64_t case_index;
    const Describe& describe;
  };
  struct Voxel;
  void AddTile(const Tile& tile,
               const double* scores,
               const float* probs,
               double tolerance,
               const Origin& origin,
               Tallies* tallies);
  void AddRow(const Voxel& voxel, double tolerance, Tally* tally) const;
  void AddDecision(const Voxel& voxel, Tally* tally) const;
  void AddOrder(const Voxel& voxel, Tally* tally) const;

  const ModelState& model_;
  Tallies single_;
  Tallies half_;
  EmitBuffer emit_;
  AlignedBuffer half_memory_;
  std::vector<double> score_row_;
  std::vector<float> prob_row_;
};

// Whether emitted values depend on offsets that softmax cannot see, to the bit.
class OffsetCheck {
 public:
  OffsetCheck(const ModelState& model, int64_t max_examples)
      : model_(model), tally_(max_examples) {}

  // The same voxels twice, with different offsets.
  void Add(const BoundCalibrator& bound,
           const Tile& tile,
           const BoundCalibrator& shifted_bound,
           const Tile& shifted,
           int64_t case_index,
           const Describe& describe);
  void Merge(const OffsetCheck& other) { tally_.Merge(other.tally_); }
  VerifyCheck Finish() const;

 private:
  const ModelState& model_;
  Tally tally_;
  EmitBuffer emit_;
  EmitBuffer shifted_emit_;
};

}  // namespace segcal
