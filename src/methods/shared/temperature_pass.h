// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tuple>

#include "core/exact_sum.h"
#include "data/sample.h"
#include "data/stream.h"
#include "kernels/temperature.h"
#include "optim/newton1d.h"

namespace segcal {

// TemperatureSums over blocks in any order, with the same bits.
class TemperatureTotals {
 public:
  TemperatureSums* pending() noexcept { return &pending_; }
  void Flush() noexcept;
  TemperatureSums Sums() const noexcept;  // flushed
  static constexpr auto SumFields() {
    using T = TemperatureTotals;
    return std::tuple(&T::count_, &T::loss_, &T::slope_, &T::curvature_, &T::skew_);
  }

 private:
  TemperatureSums pending_;
  int64_t count_ = 0;
  ExactSum loss_, slope_, curvature_, skew_;
};

// Sums at inverse temperature beta over all voxels: one pass.
TemperatureSums TemperaturePass(const CaseStream& stream,
                                const std::string& stage,
                                const Pooling& pooling,
                                double beta);

// The same over a sample in memory.
TemperatureSums TemperaturePass(const TileSample& sample, int num_threads, double beta);

// Mean loss and its derivatives with respect to beta, from sums over voxels.
Point1D MeanPoint(double beta, const TemperatureSums& sums) noexcept;

}  // namespace segcal
