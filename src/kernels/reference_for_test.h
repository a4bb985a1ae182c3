// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/bins.h"
#include "kernels/mixture.h"
#include "kernels/pool.h"
#include "kernels/scores.h"
#include "kernels/temperature.h"
#include "kernels/tile.h"

// The kernels again, one voxel after the other in double precision, as their definitions read: what
// the fast ones are tested against. They allocate and are slow; nothing else uses them.
namespace segcal::reference {

// softmax(beta z) of one voxel.
std::vector<double> Softmax(const Tile& tile, double beta, int64_t v);
// log softmax(beta z)_c.
double LogSoftmax(const Tile& tile, double beta, int64_t c, int64_t v);
// log sum_c exp z_c, offset included.
double FreeEnergy(const Tile& tile, int64_t v);

// Entropy of softmax(z), in nats.
double Entropy(const Tile& tile, int64_t v);

// Sums over the labelled voxels, and the same with every term of a sum taken absolute: the scale
// its rounding errors are measured by.
struct TemperatureResult {
  TemperatureSums sums;
  TemperatureSums scale;
};
TemperatureResult Temperature(const Tile& tile, double beta);
LabelMargins Margins(const Tile& tile);

// The mixture's probabilities of one voxel, and the sums with their scales as above.
std::vector<double> MixtureProbs(const Tile& tile, const Mixture& mixture, int64_t v);
struct MixtureResult {
  MixtureSums sums;
  MixtureSums scale;
};
MixtureResult Mixtures(const Tile& tile, const Mixture& mixture);

int64_t TopLabel(const float* probs, int64_t num_classes, int64_t v);
ScoreSums Scores(const float* probs,
                 const float* log_label,
                 const int32_t* labels,
                 int64_t num_classes);

// The first bin whose upper edge is not below (or, open above, is above) x, else the last.
int64_t Bin(float x, const BinEdges& edges);
void ClasswiseBins(const float* probs,
                   const int32_t* labels,
                   int64_t num_classes,
                   const BinEdges& edges,
                   BinSums* bins);

// One pooled voxel before rounding to float32.
struct PooledVoxel {
  std::vector<double> logits;  // z - max z, floor applied
  double offset = 0.0;
  int64_t decision = 0;
};
PooledVoxel Pool(std::span<const MemberRows> members,
                 int64_t num_classes,
                 int64_t v,
                 const PoolOptions& options);

// The winner rule on one voxel's probabilities, [num_classes].
void KeepWinner(int64_t decision, std::span<float> probs);
void RoundToHalf(int64_t decision,
                 bool keep_decision,
                 std::span<const float> probs,
                 std::span<uint16_t> out);

}  // namespace segcal::reference
