// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/case_reader.h"
#include "formats/storage.h"
#include "segcal/dataset.h"
#include "segcal/run_options.h"

namespace segcal {

// Whether candidates are label maps with a reliability each, rather than class probabilities.
bool HasLabelMaps(const Dataset& dataset);

// What members are predictions of: the classes of the data set, or "wrong" and "right".
std::vector<std::string> VoteClasses(const Dataset& dataset);

// An Error unless the data set is one of candidates: at least two per case, and label maps in all
// cases or in none.
void CheckCandidates(const Dataset& dataset);

// The prediction of one candidate, as a case of one member, with mask and image, without labels.
CaseReader OpenVote(const Dataset& dataset,
                    const Case& entry,
                    int64_t candidate,
                    const RunOptions& run);

// Spacing of the axes of `shape`, and a file that knows orientation and spacing, or empty: from the
// case, else its labels, candidates or predictions.
struct CaseGeometry {
  std::vector<double> spacing;
  std::string file;
};
CaseGeometry FindGeometry(const Dataset& dataset,
                          const Case& entry,
                          const std::vector<int64_t>& shape,
                          const RunOptions& run);

// The labels of the case as class indices, kNoLabel where ignored or masked; empty without labels.
std::vector<int32_t> ReadTruth(const Dataset& dataset, const Case& entry, const RunOptions& run);

// The label map of a candidate as class indices, kAbstains where it has the ignore label. An Error
// unless it has the shape of the case.
class CandidateMap {
 public:
  CandidateMap(const Dataset& dataset,
               const Case& entry,
               int64_t candidate,
               const std::vector<int64_t>& shape,
               const RunOptions& run);
  void Read(int64_t first, std::span<uint16_t> labels) const;

 private:
  std::unique_ptr<LabelReader> labels_;
};

// Labels and reliabilities of all candidates of one case, in bounded memory: what does not fit
// into it goes to temporary files. Writing and reading is safe from several threads.
class VoteTable {
 public:
  VoteTable(int64_t candidates, int64_t voxels, const RunOptions& run);

  int64_t candidates() const noexcept { return static_cast<int64_t>(labels_.size()); }
  int64_t voxels() const noexcept { return voxels_; }
  void WriteLabels(int64_t candidate, int64_t first, std::span<const uint16_t> labels);
  void WriteReliability(int64_t candidate, int64_t first, std::span<const float> values);
  // Of voxels [first, first + count), [candidate][voxel].
  void ReadLabels(int64_t first, int64_t count, std::vector<uint16_t>* labels) const;
  void ReadReliability(int64_t first, int64_t count, std::vector<float>* values) const;

 private:
  int64_t voxels_;
  std::vector<Spool> labels_;
  std::vector<Spool> reliability_;
};

}  // namespace segcal
