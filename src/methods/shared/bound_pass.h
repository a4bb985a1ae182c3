// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/progress.h"
#include "data/reduce.h"
#include "methods/shared/calibrator.h"

namespace segcal {

// A calibrator bound to every case of a stream, from its first block until it ends.
class BoundCases {
 public:
  BoundCases(const CaseStream& stream, const Calibrator& calibrator, const Pooling& pooling)
      : stream_(stream),
        calibrator_(calibrator),
        pooling_(pooling),
        cases_(static_cast<size_t>(stream.num_cases())) {}

  const BoundCalibrator& Find(int64_t c, const CaseReader& reader) {
    BoundCase& own = cases_[static_cast<size_t>(c)];
    own.made.Call(
        [&] { own.bound = calibrator_.Bind(reader, pooling_, MakeBindOptions(stream_)); });
    return *own.bound;
  }
  void Release(int64_t c) { cases_[static_cast<size_t>(c)].bound.reset(); }

 private:
  struct BoundCase {
    PolledOnce made;
    std::unique_ptr<BoundCalibrator> bound;
  };

  const CaseStream& stream_;
  const Calibrator& calibrator_;
  const Pooling& pooling_;
  std::vector<BoundCase> cases_;
};

// ReduceTiles (data/reduce.h) with a calibrator bound to every case while its tiles are visited:
// `add` gets the tile, the bound calibrator and the accumulator.
template <class Sums, class AddTile>
Sums ReduceBound(const CaseStream& stream,
                 const std::string& stage,
                 const Pooling& pooling,
                 const Calibrator& calibrator,
                 const Sums& zero,
                 const AddTile& add) {
  BoundCases cases(stream, calibrator, pooling);
  return ReduceBlocks(
      stream,
      stage,
      [&] { return zero; },
      [&](VoxelBlock& block, int64_t c, TileBuffer* buffer, Sums* sums) {
        const BoundCalibrator& bound = cases.Find(c, block.reader());
        for (int64_t t = 0; t < block.num_tiles(); ++t)
          add(block.PoolTileInto(t, pooling, buffer), bound, sums);
      },
      [&](int64_t c, const CaseReader&) { cases.Release(c); });
}

}  // namespace segcal
