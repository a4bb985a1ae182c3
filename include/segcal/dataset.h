// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace segcal {

// One image or volume: the predictions of all members, and what is known about it. Paths are as in
// the data set file, relative to it.
struct Case {
  std::string id;
  std::vector<std::string> members;  // one array per member: (C, spatial...) or (spatial..., C)
  std::string labels;                // empty: unlabelled, can only be applied to
  std::string image;                 // empty: none
  std::string mask;                  // empty: none; zero voxels take no part
  std::vector<double>
      spacing;        // per spatial axis, slowest first; empty: from the label file, else 1
  std::string group;  // cases of one group stay on one side of a split; empty: its own
  std::string split;  // "calibration", "validation", "test", ...; empty: none
};

// A list of cases and what they share; the file format is described in docs/formats.md.
struct Dataset {
  std::string name;
  std::vector<std::string> classes;
  std::string input;  // "logits", "log_probabilities" or "probabilities"
  std::optional<int64_t> ignore_label;
  std::optional<int64_t> background;      // class that is "nothing" for overlap metrics
  std::string layout = "channels_first";  // or "channels_last"
  std::string key;                        // member of .npz predictions; empty: found by itself
  // Value in the label file -> class index or ignore_label; empty: values are class indices. A
  // value that is not listed is an error.
  std::map<int64_t, int64_t> label_map;
  std::vector<Case> cases;

  std::string folder;  // where relative paths start; not part of the file

  int64_t num_classes() const noexcept { return static_cast<int64_t>(classes.size()); }
};

// Reads and checks a data set file, or the dataset.json of a folder. Files of cases are not opened.
Dataset LoadDataset(const std::string& path);

// Throws unless the fields of a data set fit each other; `where` starts the message.
void CheckDataset(const Dataset& dataset, const std::string& where);

// Checks and writes a data set file; relative paths are written as they are.
void SaveDataset(const std::string& path, const Dataset& dataset);

// The cases of one split, in order; an unknown split is an error that lists the known ones.
Dataset SelectSplit(const Dataset& dataset, const std::string& split);

// Assigns splits at random, whole groups at a time, in the given proportions, deterministic by
// seed. Proportions that are whole numbers summing to the number of groups are exact counts.
void AssignSplits(Dataset* dataset,
                  const std::vector<std::pair<std::string, double>>& proportions,
                  uint64_t seed);

}  // namespace segcal
