// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint.h"
#include "core/json_fwd.h"
#include "core/options.h"
#include "data/case_reader.h"
#include "data/sample.h"
#include "data/stream.h"
#include "kernels/temperature.h"
#include "kernels/tile.h"
#include "optim/trainer.h"

namespace segcal {

// What a calibrator guarantees about the classes' order in its output.
enum class Preserves { kNone, kArgmax, kOrder };
const char* Name(Preserves preserves) noexcept;

struct Properties {
  bool translation_invariant = false;
  Preserves preserves = Preserves::kNone;
};

// What a calibrator looks at beside the voxel itself. All zero: it gets tiles and nothing else.
struct Needs {
  int64_t halo = 0;         // voxels on each side, in plane
  bool image = false;       // the input image of the case
  bool whole_case = false;  // a pass over the case before the first tile
};

// How many numbers a fit sets, and how many of them the probabilities depend on.
struct ParameterCounts {
  int64_t optimised = 0;
  int64_t identifiable = 0;
};

// Proof of optimality of one expert (global methods have one): the projected gradient of its own
// mean objective, and the Newton decrement |g| / sqrt(h).
struct Certificate {
  double gradient = 0.0;
  double newton_decrement = 0.0;
  bool bounded = true;  // false: the infimum lies at infinity, the parameters are where we stopped
  int64_t voxels = 0;   // labelled voxels of this expert
  // How far the objective can be above its minimum at most; absent where nothing bounds it.
  std::optional<double> gap;
  std::vector<double> path;  // the objective after each pass over the data
};

// A condition on the parameters that a declared property rests on, and how well it holds.
struct Claim {
  std::string what;      // "every gap weight is at least 0"
  std::string property;  // "translation_invariant" or "preserves"
  double found = 0.0;
  double allowed = 0.0;
  bool holds = false;
};

// One setting of the options that a search tried, and the mean loss on the voxels it chooses by.
struct SearchTrial {
  OptionMap options;
  double validation_nll = 0.0;
  int64_t epochs = 0;   // of a training; 0: the method is not trained
  bool pruned = false;  // stopped before its end, because others were better by then
};

struct SearchReport {
  std::vector<SearchTrial> trials;  // in the order they were tried; empty: no search
  OptionMap chosen;
  int64_t passes = 0;  // over the voxels fitted on
};

// How a trained method came to its parameters: epochs of minibatches, the best of them by the loss
// on voxels that were not trained on.
struct TrainingReport {
  int64_t epochs = 0;      // 0: not trained
  int64_t best_epoch = 0;  // whose parameters were kept; 0: the start
  std::string stopped_by;  // "max_epochs", "patience", "not_finite"
  int64_t voxels = 0;      // kept in memory to train on
  int64_t validation_voxels = 0;
  // Of the validation voxels, by the loss that is trained: uncalibrated (of a selector, at the best
  // constant score), at the start, and at the parameters that were kept.
  double identity_nll = 0.0;
  double start_nll = 0.0;
  double validation_nll = 0.0;
  int64_t total_epochs = 0;         // of all trials of a search
  std::vector<TrainEpoch> history;  // of the trial that was kept
};

// What a fit found out. Not converging is a result, not an error.
struct FitOutcome {
  std::string solver;
  // "converged", "at_bound", "unbounded", "not_converged", "nothing_to_fit" or, for the best epoch
  // of a training, "trained"
  std::string status;
  int64_t passes = 0;  // over all voxels, the survey included, a search not
  double nll_after = 0.0;
  std::vector<Certificate> certificates;
  std::vector<std::string> warnings;
  SearchReport search;
  TrainingReport training;
  std::map<std::string, double> figures;  // what the method measured of itself, by name
};

// What is known about the data before a calibrator starts, from one pass over all voxels.
struct Survey {
  int64_t voxels = 0;    // all
  int64_t labelled = 0;  // taking part
  int64_t flat = 0;      // of the labelled, those whose logits are all equal
  int64_t repeated = 0;  // in runs of exactly equal predictions, see data/repeats.h
  std::vector<int64_t> label_counts;
  std::vector<int64_t> confusion;  // [decision][label], of the labelled voxels
  LabelMargins margins;
  TemperatureSums at_one;    // mean loss before calibration is at_one.loss / labelled
  double sample_beta = 1.0;  // temperature fitted on the sample
  TemperatureSums at_sample_beta;
  uint64_t hash = 0;         // of values, decisions and labels
  int64_t renormalised = 0;  // probability rows whose sum was off by more than 1e-3
};

struct FitContext;

// Voxels to fit on and voxels to choose options by. No training context: all the voxels of the fit.
struct SearchFold {
  const FitContext* training = nullptr;
  const CaseStream* validation = nullptr;
};

// Everything a calibrator may use to fit itself.
struct FitContext {
  const CaseStream& stream;
  const CaseStream* validation = nullptr;  // null: none
  Pooling pooling;
  const TileSample& sample;
  const Survey& survey;
  uint64_t seed = 0;
  int64_t trials = 0;                      // of a search for options; 0: none
  std::vector<SearchFold> folds;           // what the search chooses by
  std::vector<std::string> fixed_options;  // keys that the caller gave: not searched
  Checkpoint* checkpoint = nullptr;        // where a training keeps its state; null: nowhere
};

// What binding a calibrator to a case may use. The result does not depend on it.
struct BindOptions {
  int threads = 1;
  int64_t memory = int64_t{64} << 20;  // bytes, beside what it keeps: a few numbers per voxel
};
// A share of what the stream may use, which has its own blocks to hold. Every worker may be binding
// a case of its own: they share threads and memory.
BindOptions MakeBindOptions(const CaseStream& stream);

// A calibrator bound to one case: from here on tiles are independent of each other.
class BoundCalibrator {
 public:
  virtual ~BoundCalibrator() = default;
  // Emits probabilities and the label's log-probability. Thread-safe.
  virtual void Apply(const Tile& tile, const TileProbs& out) const = 0;
  // Temperature by which each voxel's logits are divided, [kTileVoxels]; false for methods that do
  // something else.
  virtual bool Temperature(const Tile&, float*) const { return false; }
};

// A calibration method with its parameters, fitted or not.
class Calibrator {
 public:
  virtual ~Calibrator() = default;
  virtual Properties properties() const = 0;
  virtual Needs needs() const { return {}; }
  virtual ParameterCounts counts(int64_t num_classes) const = 0;

  virtual FitOutcome Fit(const FitContext& context) = 0;
  virtual Json Parameters() const = 0;
  // What of the declared properties can be read from the parameters alone; `verify` shows it.
  virtual std::vector<Claim> Claims() const { return {}; }
  // `where` names the model file in messages.
  virtual void SetParameters(const Json& json, int64_t num_classes, const std::string& where) = 0;

  // Whatever has to be computed from the whole case happens here; the calibrator and the case
  // outlive the result.
  virtual std::unique_ptr<BoundCalibrator> Bind(const CaseReader& reader,
                                                const Pooling& pooling,
                                                const BindOptions& options) const = 0;
};

// A calibrator that needs nothing but the voxel: one function on a tile.
class PixelCalibrator : public Calibrator {
 public:
  virtual void ApplyTile(const Tile& tile, const TileProbs& out) const = 0;
  virtual bool TemperatureTile(const Tile&, float*) const { return false; }
  std::unique_ptr<BoundCalibrator> Bind(const CaseReader& reader,
                                        const Pooling& pooling,
                                        const BindOptions& options) const final;
};

// What a search of a method's options chooses by: nothing to choose; folds or validation cases
// given to it; cases that its training holds out itself.
enum class SearchBy { kNothing, kFolds, kTraining };

// One method: everything the rest of the program knows about it.
struct CalibratorInfo {
  const char* name;
  const char* summary;
  const char* reference;  // key in docs/references.md
  const char* page;       // docs/methods/<page>.md
  OptionMap (*default_options)();
  // `base` is the calibrator after the `+` of a composition, else null.
  std::unique_ptr<Calibrator> (*make)(const OptionMap& options, std::unique_ptr<Calibrator> base);
  bool composes = false;  // whether it takes a base
  SearchBy search = SearchBy::kNothing;
};

// make for a method without a base: Method's constructor takes its options.
template <class Method, class Options>
std::unique_ptr<Calibrator> MakeWith(const OptionMap& options, std::unique_ptr<Calibrator>) {
  return std::make_unique<Method>(ParseOptions<Options>(Method::kName, options));
}

}  // namespace segcal
