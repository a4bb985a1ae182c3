// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/export.h"
#include "segcal/model.h"
#include "segcal/properties.h"
#include "segcal/run_options.h"

namespace segcal {

struct VerifyOptions {
  RunOptions run;
  // Generated voxels per check, rounded up to whole cases of 8192; 0 leaves them out.
  int64_t voxels = 1'000'000;
  uint64_t seed = 0;         // of the generated inputs
  std::string split;         // of the data set; empty: all cases
  int64_t max_examples = 3;  // counter-examples kept per check, the first ones
};

// A condition on the parameters that a declared property rests on.
struct VerifiedClaim {
  std::string what;
  std::string property;
  double found = 0.0;
  double allowed = 0.0;
  bool holds = false;
};

// A voxel at which a property does not hold.
struct CounterExample {
  std::string source;             // id of the case, or the kind of generated input
  int64_t voxel = 0;              // in C order within the case, or among the generated ones
  std::vector<int64_t> position;  // spatial indices of a case; empty for generated inputs
  std::string what;
  std::vector<double> input;   // pooled logits, offset included
  std::vector<double> output;  // probabilities as emitted
};

// One property of emitted values on one kind of input.
struct VerifyCheck {
  std::string name;       // "rows", "decision", "order" or "translation"
  std::string input;      // "generated" or "dataset"
  std::string output;     // "float32" or "float16"
  bool declared = false;  // not declared: counter-examples are a fact, not a failure
  int64_t voxels = 0;     // looked at; 0 where `note` says why not
  int64_t violations = 0;
  double worst = 0.0;  // rows: largest |sum - 1|; else the largest offence, 0 without one
  std::string note;
  std::vector<CounterExample> examples;

  bool holds() const noexcept { return !declared || violations == 0; }
};

struct SEGCAL_EXPORT VerifyResult {
  std::string pipeline;
  bool translation_invariant = false;
  Preserves preserves = Preserves::kNone;
  std::string dataset;  // empty: none was given
  std::string split;
  uint64_t seed = 0;
  std::vector<VerifiedClaim> claims;
  std::vector<VerifyCheck> checks;
  std::vector<std::string> skipped;

  // Whether everything declared is true of all that was looked at.
  bool holds() const noexcept;
};

// Checks what a model declares, from its parameters, on generated inputs that are random or made to
// break it, and on a data set; docs/verify.md says what is checked and how exactly.
SEGCAL_EXPORT VerifyResult Verify(const Model& model, const VerifyOptions& options = {});
SEGCAL_EXPORT VerifyResult Verify(const Model& model,
                                  const Dataset& dataset,
                                  const VerifyOptions& options = {});

// The result as documented in docs/formats.md, and back; `where` names the text in messages.
SEGCAL_EXPORT std::string ToJson(const VerifyResult& result);
SEGCAL_EXPORT VerifyResult VerifyResultFromJson(const std::string& text,
                                                const std::string& where = "verification");

}  // namespace segcal
