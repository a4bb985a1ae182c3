// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "core/rng.h"
#include "methods/affine/affine_fit.h"
#include "methods/affine/affine_shape.h"

namespace segcal {

struct Family {
  const char* name;
  AffineShape shape;
};

inline std::string NameOfFamily(const ::testing::TestParamInfo<Family>& info) {
  return info.param.name;
}

inline constexpr int64_t kClasses = 4;

inline const Family kFamilies[] = {
    {"raw", {.space = AffineSpace::kRaw, .num_classes = kClasses}},
    {"diagonal", {.space = AffineSpace::kRaw, .diagonal = true, .num_classes = kClasses}},
    {"located", {.space = AffineSpace::kRaw, .num_classes = kClasses, .centre = 3.0, .scale = 2.0}},
    {"located_diagonal",
     {.space = AffineSpace::kRaw,
      .diagonal = true,
      .num_classes = kClasses,
      .centre = 3.0,
      .scale = 2.0}},
    {"differences", {.space = AffineSpace::kDifferences, .num_classes = kClasses}},
    {"log_probs", {.space = AffineSpace::kLogProbs, .num_classes = kClasses}},
    {"conditional",
     {.space = AffineSpace::kLogProbs, .per_decision = true, .num_classes = kClasses}},
    {"winner_gaps",
     {.space = AffineSpace::kWinnerGaps, .per_decision = true, .num_classes = kClasses}},
    {"sorted_gaps",
     {.space = AffineSpace::kSortedGaps, .per_decision = true, .num_classes = kClasses}}};

// Base of the tests of every space.
class AffineSpaceTest : public ::testing::TestWithParam<Family> {
 protected:
  const AffineShape& shape() const { return GetParam().shape; }
  std::vector<double> RandomParameters(uint64_t seed) const {
    Rng rng(seed, 0);
    std::vector<double> p = ScaledIdentity(shape(), 0.7);
    for (double& x : p) x += 0.1 * (shape().gaps() ? rng.Uniform() : rng.Normal());
    return p;
  }
  // Of a diagonal map, scales and biases alone.
  bool IsFree(size_t parameter) const {
    const auto features = static_cast<size_t>(shape().num_features());
    const size_t column = parameter % features;
    return !shape().diagonal || column == parameter / features || column + 1 == features;
  }
  // The same number of sampled voxels for every expert.
  std::vector<int64_t> Sizes(int64_t size) const {
    return std::vector<int64_t>(static_cast<size_t>(shape().num_experts()), size);
  }
  ExpertParameters RandomMaps(uint64_t seed) const {
    ExpertParameters maps;
    for (int64_t e = 0; e < shape().num_experts(); ++e) {
      maps.push_back(RandomParameters(seed + static_cast<uint64_t>(e)));
    }
    return maps;
  }
};

// Maps whose every weight is free: those of a diagonal one are held, with a gauge, a curvature and
// products of their own.
inline std::vector<Family> FullFamilies() {
  std::vector<Family> full;
  std::copy_if(
      std::begin(kFamilies), std::end(kFamilies), std::back_inserter(full), [](const Family& f) {
        return !f.shape.diagonal;
      });
  return full;
}

}  // namespace segcal
