// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/tile.h"

namespace segcal {

// q = w_0 softmax(beta z) + w_1 softmax(z) + w_2 / C (ET1). Weights sum to one; each is 0 or at
// least kSmallestWeight.
struct Mixture {
  double beta = 1.0;
  double weights[3] = {1.0, 0.0, 0.0};
};
inline constexpr double kSmallestWeight = 0x1p-36;

// What is summed over the labelled voxels of a tile. With f = (softmax(beta u)_y, softmax(u)_y,
// 1/C), r_k = f_k / q_y, d = u_y - E[u] and V = Var[u] under softmax(beta u):
enum MixtureTerm {
  kMixtureLoss,  // -log q_y                           (ET2)
  kMixtureR0,    // r_k: first derivatives             (ET4)
  kMixtureR1,
  kMixtureR2,
  kMixtureD,    // r_0 d                               (ET5)
  kMixtureR00,  // r_j r_k: second derivatives         (ET6)
  kMixtureR01,
  kMixtureR02,
  kMixtureR11,
  kMixtureR12,
  kMixtureR22,
  kMixtureD0,  // r_k r_0 d                            (ET7)
  kMixtureD1,
  kMixtureD2,
  kMixtureDD,    // (r_0 d)^2                          (ET8)
  kMixtureBend,  // r_0 (d^2 - V)                      (ET8)
  kMixtureTerms
};

// A ratio r_k is unbounded only where w_k = 0. There it is cut: at 2^40 in the first derivatives,
// which is so far above 1 that the weight is known to grow, at 2^24 in the second ones. Sums then
// stay within the range of exact addition.
inline constexpr double kMixtureRatioCap = 0x1p40;
inline constexpr double kMixtureSecondCap = 0x1p24;

struct MixtureSums {
  int64_t count = 0;
  double terms[kMixtureTerms] = {};
};

// Adds the sums of one tile. 0 < beta <= 1e6, used to full double precision. Maximum error: (C +
// 30) 1e-7 of the sum of absolute terms, d taken as |u_y| + |E[u]|, the loss as 1 + |log q_y|.
void AddMixtureSums(const Tile& tile, const Mixture& mixture, MixtureSums* sums) noexcept;

// q and the label's log-probability for a whole tile. Errors as SoftmaxTile's (softmax.h), row sums
// within (C + 8) 2^-24 of 1. Order is weakly preserved: each operation is monotone in z_c.
void MixtureTile(const Tile& tile, const Mixture& mixture, const TileProbs& out) noexcept;

}  // namespace segcal
