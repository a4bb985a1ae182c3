// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>

#include "metrics/metric.h"

namespace segcal {
namespace {

// Steps per unit of F in fixed point (F2). Fine enough that mean and standard deviation are within
// 2^-41 < 5e-13 of exact; coarse enough that |F| up to kLimit fits 63 bits.
constexpr double kStepsPerUnit = 0x1p40;
constexpr double kLimit = 0x1p22;

// An unsigned sum of 192 bits: room for 2^64 squares of 63-bit numbers.
struct Wide {
  unsigned __int128 low = 0;
  uint64_t high = 0;

  // By value: a sum may be added to itself.
  void Add(Wide term) {
    low += term.low;
    high += term.high + (low < term.low ? 1u : 0u);
  }
  void Merge(const Wide& other) { Add(other); }
  void Pack(SumWriter* out) const {
    out->Put(low);
    out->Put(high);
  }
  void Unpack(SumReader* in) {
    low = in->Take<unsigned __int128>();
    high = in->Take<uint64_t>();
  }
  void Subtract(Wide term) {
    high -= term.high + (low < term.low ? 1u : 0u);
    low -= term.low;
  }
  double ToDouble() const {
    return std::ldexp(static_cast<double>(high), 128) + static_cast<double>(low);
  }
};

// To the nearest whole number, half to even. Adding 1.5 x 2^52 to what is below 2^51 leaves it in
// the low bits; the function of the C library costs a call.
int64_t RoundToSteps(double x) {
  constexpr double kMagic = 0x1.8p52;
  if (std::fabs(x) >= 0x1p51) return static_cast<int64_t>(std::nearbyint(x));
  return std::bit_cast<int64_t>(x + kMagic) - std::bit_cast<int64_t>(kMagic);
}

uint64_t Magnitude(int64_t x) {
  return x < 0 ? uint64_t{0} - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
}

Wide Product(uint64_t a, unsigned __int128 b) {
  const unsigned __int128 lower = static_cast<unsigned __int128>(a) * static_cast<uint64_t>(b);
  const unsigned __int128 upper =
      static_cast<unsigned __int128>(a) * static_cast<uint64_t>(b >> 64);
  Wide product{.low = upper << 64, .high = static_cast<uint64_t>(upper >> 64)};
  product.Add({.low = lower});
  return product;
}

// a / b rounded to the nearest whole number, b > 0.
int64_t RoundedQuotient(__int128 a, int64_t b) {
  const __int128 half = b / 2;
  return static_cast<int64_t>(a >= 0 ? (a + half) / b : -((-a + half) / b));
}

// Mean and spread of the free energy over the labelled voxels, docs/methods/free_energy.md.
//
// F is often large with a small spread, where E[F^2] - E[F]^2 in floating point would cancel. Sums
// of steps and of their squares are integers here, so the spread about the rounded mean (F4) is
// exact and does not depend on the order of voxels or merges.
class FreeEnergyAccumulator final : public ListedSums<FreeEnergyAccumulator> {
 public:
  void Add(const EvalTile& tile) override {
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      if (tile.labels[v] != kNoLabel) AddVoxel(tile.free_energy[v]);
    }
  }

  static constexpr auto SumFields() {
    using F = FreeEnergyAccumulator;
    return std::tuple(&F::count_, &F::out_of_range_, &F::sum_, &F::squares_);
  }

  std::vector<MetricValue> Finish() const override {
    const bool defined = count_ > 0 && !out_of_range_;
    const double nan = std::nan("");
    return {{"free_energy_mean", defined ? Mean() : nan, {}},
            {"free_energy_std", defined ? StandardDeviation() : nan, {}}};
  }

 private:
  void AddVoxel(double free_energy) {
    ++count_;
    // Also false for NaN.
    if (!(std::fabs(free_energy) < kLimit)) {
      out_of_range_ = true;
      return;
    }
    const int64_t steps = RoundToSteps(free_energy * kStepsPerUnit);
    const unsigned __int128 magnitude = Magnitude(steps);
    sum_ += steps;
    squares_.Add({.low = magnitude * magnitude});
  }

  // (F3): whole steps and the rest apart, each rounded once.
  double Mean() const {
    const int64_t centre = RoundedQuotient(sum_, count_);
    return (static_cast<double>(centre) + Rest(centre)) / kStepsPerUnit;
  }

  double StandardDeviation() const {
    const int64_t centre = RoundedQuotient(sum_, count_);
    const double rest = Rest(centre);
    const double about_centre = SquaresAbout(centre).ToDouble() / static_cast<double>(count_);
    return std::sqrt(std::max(about_centre - rest * rest, 0.0)) / kStepsPerUnit;
  }

  // How far the mean lies from `centre`, in steps; at most 1/2.
  double Rest(int64_t centre) const {
    const __int128 rest = sum_ - static_cast<__int128>(centre) * count_;
    return static_cast<double>(rest) / static_cast<double>(count_);
  }

  // (F4): sum of (F - centre)^2 in squared steps = squares - centre (sum + rest), rest = sum - n
  // centre. The product is not negative, since centre and sum + rest = n centre + 2 rest, |2 rest|
  // <= n, agree in sign.
  Wide SquaresAbout(int64_t centre) const {
    const __int128 rest = sum_ - static_cast<__int128>(centre) * count_;
    const __int128 factor = sum_ + rest;
    const auto magnitude = static_cast<unsigned __int128>(factor < 0 ? -factor : factor);
    Wide squares = squares_;
    squares.Subtract(Product(Magnitude(centre), magnitude));
    return squares;
  }

  int64_t count_ = 0;
  bool out_of_range_ = false;
  __int128 sum_ = 0;  // in steps
  Wide squares_;      // in squared steps
};

constexpr MetricNumber kFreeEnergyNumbers[] = {
    {"free_energy_mean",
     "mean free energy of the pooled logits",
     Goal::kNone,
     Aggregate::kMeanOverCases,
     -kLimit,
     kLimit},
    {"free_energy_std",
     "spatial standard deviation of the free energy of the pooled logits",
     Goal::kNone,
     Aggregate::kMeanOverCases,
     0.0,
     kLimit},
};

std::unique_ptr<MetricAccumulator> MakeFreeEnergy(const MetricContext&, const OptionMap& options) {
  ParseOptions<NoOptions>("free_energy", options);
  return std::make_unique<FreeEnergyAccumulator>();
}

}  // namespace

extern constinit const MetricInfo kFreeEnergy{.name = "free_energy",
                                              .reference = "Kirscher26",
                                              .numbers = kFreeEnergyNumbers,
                                              .defaults = &DefaultOptions<NoOptions>,
                                              .make = &MakeFreeEnergy,
                                              .needs_free_energy = true};

}  // namespace segcal
