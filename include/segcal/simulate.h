// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "segcal/dtype.h"
#include "segcal/export.h"
#include "segcal/input_kind.h"
#include "segcal/progress.h"

namespace segcal {

// What to simulate. An empty or negative value marked "preset" stands for the preset's own value.
// docs/simulator.md describes the model behind each number.
struct SimulateOptions {
  std::string preset = "street";  // one of SimulatePresets()
  int64_t num_cases = 10;
  int64_t num_members = 1;
  int64_t num_classes = -1;   // preset; 1 to 255
  std::vector<int64_t> size;  // preset; spatial axes, slowest first
  uint64_t seed = 1;

  // One of SimulateTrueMaps(): how the true posterior follows from the stored, pooled logits.
  std::string true_map = "temperature";
  // The typical temperature of the true map; above 1 the stored prediction is over-confident.
  double temperature = 1.8;
  // How far the parts of the other maps (rows, classes, places) differ from that temperature, [0,
  // 1).
  double variation = 0.3;

  // Range of the spatial correlation of the labels around the posterior, in voxels. 0 draws every
  // label independently, which recovery of the true map needs; 4 to 10 give regions like a
  // person's.
  double correlation = 0.0;
  double offset = 1.5;            // standard deviation of the smooth offset added to all classes
  double member_noise = 0.8;      // standard deviation of a member's own logit noise
  double ignore_fraction = -1.0;  // preset; expected part of voxels without a label, [0, 1)

  // Names and proportions; empty leaves the cases without a split.
  std::vector<std::pair<std::string, double>> splits = {
      {"calibration", 0.5}, {"validation", 0.2}, {"test", 0.3}};
  DType dtype = DType::kF32;             // of the predictions: kF16 or kF32
  InputKind input = InputKind::kLogits;  // or kProbs
  int threads = 0;                       // 0: all; the files do not depend on it
};

// Facts about what was written; sums are over the labelled voxels.
struct SimulateSummary {
  int64_t num_voxels = 0;
  int64_t num_labelled = 0;
  double true_nll = 0.0;      // mean of -log eta_y: what a perfect calibrator reaches
  double true_entropy = 0.0;  // mean entropy of eta: what true_nll tends to
  double stored_nll = 0.0;    // mean of -log softmax(pooled z)_y
  double stored_confidence = 0.0;
  double stored_accuracy = 0.0;
};

// Writes a data set with known true probabilities to `folder`, which must be empty or new:
// dataset.json, logits/m<k>/, labels/, images/ (2-D), truth/ (the posterior) and truth.json.
SEGCAL_EXPORT SimulateSummary Simulate(const std::string& folder,
                                       const SimulateOptions& options,
                                       const ProgressCallback& progress = {});

// Candidates to fuse: locally wrong copies of a segmentation, whose probability to be right is
// known at every voxel. docs/simulator.md describes how they are drawn.
struct SimulateCandidatesOptions {
  int64_t num_cases = 10;
  int64_t num_candidates = 7;
  int64_t num_classes = 5;
  std::vector<int64_t> size = {24, 48, 48};
  uint64_t seed = 1;
  double temperature = 1.8;  // stored log odds are the true ones times this
  double correlation = 0.0;  // range of correlated errors in voxels; 0: independent
  std::vector<std::pair<std::string, double>> splits = {
      {"calibration", 0.5}, {"validation", 0.2}, {"test", 0.3}};
  int threads = 0;
};

// Writes a data set to fuse to `folder`, which must be empty or new: dataset.json, labels/,
// candidates/ (label maps), logits/ (of "wrong" and "right"), truth/ (the probability to be right)
// and truth.json. The summary is over the votes of all candidates.
SEGCAL_EXPORT SimulateSummary SimulateCandidates(const std::string& folder,
                                                 const SimulateCandidatesOptions& options,
                                                 const ProgressCallback& progress = {});

// Images to train a network on: pictures of scenes whose labels are known, taken by scanners that
// differ. docs/simulator.md describes how they come about.
struct SimulateImagesOptions {
  std::string preset = "street";  // one of SimulatePresets()
  int64_t num_cases = 10;
  int64_t num_classes = -1;   // preset; 1 to 255
  std::vector<int64_t> size;  // preset; spatial axes, slowest first
  uint64_t seed = 1;
  double ignore_fraction = -1.0;  // preset; expected part of voxels without a label, [0, 1)
  // The first takes all images but those of split "shift", which the others take in turn; with one
  // there is no such split.
  int64_t num_scanners = 3;
  std::vector<std::pair<std::string, double>> splits = {
      {"train", 0.4}, {"validation", 0.1}, {"calibration", 0.2}, {"test", 0.2}, {"shift", 0.1}};
  int threads = 0;  // 0: all; the files do not depend on it
};

struct SimulateImagesSummary {
  int64_t num_images = 0;
  int64_t num_voxels = 0;
  int64_t num_labelled = 0;
};

// Writes a data set without predictions to `folder`, which must be empty or new: dataset.json,
// images/, labels/ and scanners.json.
SEGCAL_EXPORT SimulateImagesSummary SimulateImages(const std::string& folder,
                                                   const SimulateImagesOptions& options,
                                                   const ProgressCallback& progress = {});

// The summaries as documented in docs/formats.md.
SEGCAL_EXPORT std::string ToJson(const SimulateImagesSummary& summary);
SEGCAL_EXPORT std::string ToJson(const SimulateSummary& summary);

// Names of the presets and of the true maps.
SEGCAL_EXPORT std::vector<std::string> SimulatePresets();
SEGCAL_EXPORT std::vector<std::string> SimulateTrueMaps();

}  // namespace segcal
