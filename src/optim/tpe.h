// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/rng.h"

namespace segcal {

// One searched number: log-uniform or uniform on [lower, upper], and 0 with probability zero_share;
// or, where choices are given, one of these, each as likely.
struct SearchDimension {
  std::string name;
  double lower = 0.0;
  double upper = 1.0;
  bool log = false;
  double zero_share = 0.0;
  std::vector<double> choices = {};
};

// Tree-structured Parzen estimator (Bergstra et al. 2011; TR6-TR8), one dimension at a time: after
// a few random points, of some candidates drawn where good points are dense, the one is taken where
// good points are densest relative to the others. Deterministic by seed.
class TreeParzen {
 public:
  TreeParzen(std::vector<SearchDimension> dimensions, uint64_t seed);

  std::vector<double> Ask();
  void Tell(std::vector<double> point, double loss);  // NaN and infinity count as worst

 private:
  struct Trial {
    std::vector<double> point;
    double loss = 0.0;
  };
  double AskRandom(const SearchDimension& dimension);
  double AskModel(size_t d, size_t num_good);

  std::vector<SearchDimension> dimensions_;
  Rng rng_;
  std::vector<Trial> trials_;  // best first
};

}  // namespace segcal
