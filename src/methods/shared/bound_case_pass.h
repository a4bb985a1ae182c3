// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "methods/shared/bound_pass.h"

namespace segcal {

// Sums of every case apart, with a calibrator bound to it while its tiles are visited: add(tile,
// bound, sums) for every tile, then end(case, sums) once the case is complete, for several cases at
// a time. Only cases in flight take memory. See core/sums.h for Sums. What `end` returns of every
// case, which all ranks get (core/ranks.h).
template <class Sums, class AddTile, class EndCase>
auto ReduceBoundCases(const CaseStream& stream,
                      const std::string& stage,
                      const Pooling& pooling,
                      const Calibrator& calibrator,
                      const Sums& zero,
                      const AddTile& add,
                      const EndCase& end) {
  BoundCases bound(stream, calibrator, pooling);
  std::vector<WorkerSums<Sums>> cases;
  for (int64_t c = 0; c < stream.num_cases(); ++c)
    cases.emplace_back(stream.num_workers(), [&zero] { return zero; });
  std::vector<TileBuffer> buffers(static_cast<size_t>(stream.num_workers()));
  std::vector<decltype(end(int64_t{0}, zero))> results(cases.size());
  const std::exception_ptr failure = FailureOf([&] {
    stream.ForEachOwnBlock(
        stage,
        [&](VoxelBlock& block, int64_t c, int worker) {
          const BoundCalibrator& own = bound.Find(c, block.reader());
          Sums& sums = cases[static_cast<size_t>(c)].At(worker);
          TileBuffer& buffer = buffers[static_cast<size_t>(worker)];
          for (int64_t t = 0; t < block.num_tiles(); ++t)
            add(block.PoolTileInto(t, pooling, &buffer), own, &sums);
          FlushSums(&sums);
        },
        [&](int64_t c, const CaseReader&) {
          bound.Release(c);
          const auto i = static_cast<size_t>(c);
          results[i] = end(c, cases[i].TakeTotal());
        });
  });
  ShareItems(stage, failure, stream.OwnCases(), &results);
  return results;
}

}  // namespace segcal
