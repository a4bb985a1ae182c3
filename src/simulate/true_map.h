// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/rng.h"

namespace segcal {

struct TrueMapOptions {
  int64_t num_classes = 2;
  double temperature = 1.8;
  double variation = 0.3;
  // A typical advantage of the winning class over the others in the logits; sets the range of local
  // sharpness over which the temperature field moves.
  double typical_gap = 10.0;
  Rng rng{0, 0};
};

// What a true map may look at.
struct TrueMapInput {
  std::span<const double> logits;  // pooled
  int64_t decision = 0;            // their argmax, ties to the lowest class
  double local_sharpness = 0.0;    // see LocalSharpness; 0 unless NeedsNeighbours
};

// A known map g from pooled logits to the true posterior eta. Every kind is invariant to an offset
// common to all classes, so that it is contained in some calibrator that ignores the offset.
class TrueMap {
 public:
  virtual ~TrueMap() = default;
  virtual bool NeedsNeighbours() const noexcept { return false; }
  // Scores whose softmax is eta; out has one value per class.
  virtual void Scores(const TrueMapInput& in, std::span<double> out) const noexcept = 0;
  // Kind and parameters, for truth.json.
  virtual Json Describe() const = 0;
};

struct TrueMapInfo {
  const char* name;
  const char* summary;
  std::unique_ptr<TrueMap> (*make)(const TrueMapOptions& options);
};

const std::vector<TrueMapInfo>& TrueMaps();

// Error with the known names if `name` is none of them.
std::unique_ptr<TrueMap> MakeTrueMap(const std::string& name, const TrueMapOptions& options);

// scores - log sum exp scores, in place; the largest score must be finite.
void LogSoftmax(std::span<double> scores) noexcept;

int64_t ArgMax(std::span<const double> values) noexcept;

// Mean over a 5 x 5 grid of neighbours two voxels apart, in the plane of the last two axes,
// reflected at the border (clamped along a side of up to 4): what one filter of a local temperature
// tree sees.
std::vector<double> LocalSharpness(const std::vector<int64_t>& shape,
                                   const std::vector<double>& sharpness,
                                   int num_threads);

}  // namespace segcal
