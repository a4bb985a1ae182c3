// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/export.h"
#include "segcal/input_kind.h"
#include "segcal/properties.h"
#include "segcal/run_options.h"

namespace segcal {

// What is in one case.
struct CaseSummary {
  std::string id;
  std::string split;
  std::vector<int64_t> shape;
  std::string dtype;  // of the first member
  int64_t labelled = 0;
  double accuracy = 0.0;          // of the mean logits; NaN without labels
  double free_energy_mean = 0.0;  // F = log sum exp z of the mean logits, over all voxels
  double free_energy_std = 0.0;
  // Standard deviation of F where only the first 1, 2, ... members are averaged; NaN: not defined.
  std::vector<double> free_energy_std_by_size;
};

// The spatial standard deviation of the free energy over the cases where it is defined; quartiles
// by linear interpolation. NaN without such a case.
struct FreeEnergySpread {
  int64_t members = 0;  // ensemble size, the first ones
  int64_t cases = 0;
  double mean = 0.0;
  double quartiles[3] = {};
};

// A calibration method for a given number of classes.
struct MethodSummary {
  std::string name;  // as a pipeline without its pooling: "ts", "selective+ts"
  // Of its pipelines on mean logits. Those on mean probabilities, and on input that is not logits,
  // are translation invariant whatever the method.
  bool translation_invariant = false;
  Preserves preserves = Preserves::kNone;
  int64_t optimised = 0;     // numbers a fit sets
  int64_t identifiable = 0;  // of them, those that the probabilities depend on
};

struct DatasetSummary {
  std::string name;
  std::vector<std::string> classes;
  InputKind input = InputKind::kLogits;
  std::vector<CaseSummary> cases;
  int64_t voxels = 0;  // but for masked ones
  int64_t labelled = 0;
  std::vector<int64_t> label_counts;          // per class
  std::vector<int64_t> decision_counts;       // per class, over all voxels but masked ones
  int64_t repeated = 0;                       // voxels in runs of exactly equal predictions
  std::vector<double> repeated_example;       // one such prediction, as logits
  std::vector<FreeEnergySpread> free_energy;  // by ensemble size, all members last
  std::vector<MethodSummary> methods;         // for so many classes and this input
  int64_t renormalised = 0;
  std::vector<std::string> skipped;
  std::vector<std::string> warnings;  // cases and members that are no use
};

// One pass over all predictions, pooled as mean logits.
SEGCAL_EXPORT DatasetSummary Inspect(const Dataset& dataset, const RunOptions& options = {});

// The summary as documented in docs/formats.md, and back; `where` names the text in messages.
SEGCAL_EXPORT std::string ToJson(const DatasetSummary& summary);
SEGCAL_EXPORT DatasetSummary DatasetSummaryFromJson(const std::string& text,
                                                    const std::string& where = "inspection");

// Every method there is, in the order of help and tables, for data of this input.
SEGCAL_EXPORT std::vector<MethodSummary> Methods(int64_t num_classes,
                                                 InputKind input = InputKind::kLogits);

}  // namespace segcal
