// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/options.h"
#include "methods/shared/calibrator.h"
#include "methods/training/training.h"
#include "methods/tree/tree_map.h"

namespace segcal {

// One method of the family.
struct TreeVariant {
  const char* name;
  ScoreKind scores;
  bool image;
  bool whole_case;  // one temperature per case
};

struct TreeOptions {
  // Where training starts: "default", all leaves at the temperature of a sample; "identity", at 1;
  // both with small random gates. "zero", all weights 0: the reference, which never splits.
  std::string start = "default";
  TrainingOptions training{.learning_rate = 1e-2, .epochs = 100};
  // Voxels whose loss counts: "labelled", or "all", those of them in the region All (RG2).
  std::string region = "labelled";

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("start", self.start, OneOf({"default", "identity", "zero"}));
    TrainingOptions::Fields(self.training, field);
    field("region", self.region, OneOf({"labelled", "all"}));
  }
};

struct TreeFit {
  TreeShape shape;
  std::vector<double> weights;
  FitOutcome outcome;  // without the loss of what is emitted
};

// Trains the tree of a variant by the protocol of docs/methods/local_temperature.md.
TreeFit FitTree(const TreeVariant& variant, const TreeOptions& options, const FitContext& context);

}  // namespace segcal
