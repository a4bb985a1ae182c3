// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "methods/shared/calibrator.h"

namespace segcal {

// ReduceTiles (data/stream.h) with a calibrator bound to every case while its tiles are visited:
// `add` gets the tile, the bound calibrator and the accumulator.
template <class Sums, class AddTile>
Sums ReduceBound(const CaseStream& stream,
                 const std::string& stage,
                 const Pooling& pooling,
                 const Calibrator& calibrator,
                 const Sums& zero,
                 const AddTile& add) {
  struct BoundCase {
    std::once_flag made;
    std::unique_ptr<BoundCalibrator> bound;
  };
  std::vector<BoundCase> cases(static_cast<size_t>(stream.num_cases()));
  std::vector<Sums> sums(static_cast<size_t>(stream.num_workers()), zero);
  std::vector<TileBuffer> buffers(sums.size());
  stream.ForEachBlock(
      stage,
      [&](VoxelBlock& block, int64_t c, int worker) {
        const auto w = static_cast<size_t>(worker);
        BoundCase& own = cases[static_cast<size_t>(c)];
        std::call_once(own.made, [&] {
          own.bound = calibrator.Bind(block.reader(), pooling, MakeBindOptions(stream));
        });
        for (int64_t t = 0; t < block.num_tiles(); ++t) {
          add(block.PoolTileInto(t, pooling, &buffers[w]), *own.bound, &sums[w]);
        }
        sums[w].Flush();
      },
      [&](int64_t c, const CaseReader&) { cases[static_cast<size_t>(c)].bound.reset(); });
  Sums total = zero;
  for (const Sums& part : sums) total.Merge(part);
  return total;
}

}  // namespace segcal
