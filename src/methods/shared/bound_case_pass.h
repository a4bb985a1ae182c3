// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "methods/shared/calibrator.h"

namespace segcal {

// Sums of every case apart, with a calibrator bound to it while its tiles are visited: add(tile,
// bound, sums) for every tile, then end(case, sums) once the case is complete, for several cases at
// a time. Only cases in flight take memory. Sums has Merge(const Sums&), exact in any order.
template <class Sums, class AddTile, class EndCase>
void ReduceBoundCases(const CaseStream& stream,
                      const std::string& stage,
                      const Pooling& pooling,
                      const Calibrator& calibrator,
                      const Sums& zero,
                      const AddTile& add,
                      const EndCase& end) {
  struct BoundCase {
    std::once_flag made;
    std::unique_ptr<BoundCalibrator> bound;
    std::mutex mutex;
    std::optional<Sums> sums;
  };
  std::vector<BoundCase> cases(static_cast<size_t>(stream.num_cases()));
  std::vector<TileBuffer> buffers(static_cast<size_t>(stream.num_workers()));
  stream.ForEachBlock(
      stage,
      [&](VoxelBlock& block, int64_t c, int worker) {
        BoundCase& own = cases[static_cast<size_t>(c)];
        std::call_once(own.made, [&] {
          own.bound = calibrator.Bind(block.reader(), pooling, MakeBindOptions(stream));
        });
        Sums sums = zero;
        for (int64_t t = 0; t < block.num_tiles(); ++t) {
          add(block.PoolTileInto(t, pooling, &buffers[static_cast<size_t>(worker)]),
              *own.bound,
              &sums);
        }
        const std::lock_guard lock(own.mutex);
        if (own.sums) {
          own.sums->Merge(sums);
        } else {
          own.sums = std::move(sums);
        }
      },
      [&](int64_t c, const CaseReader&) {
        BoundCase& own = cases[static_cast<size_t>(c)];
        own.bound.reset();
        end(c, *own.sums);
        own.sums.reset();
      });
}

}  // namespace segcal
