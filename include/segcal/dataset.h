// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "segcal/export.h"
#include "segcal/input_kind.h"
#include "segcal/views.h"

namespace segcal {

// One array of a case: a file, an item of one, a file per class, or a view of the caller's memory.
// Empty: the case has none.
class ArraySource {
 public:
  ArraySource() = default;
  // A path as in the data set file, relative to it.
  ArraySource(std::string path) : path_(std::move(path)) {}
  ArraySource(const char* path) : path_(path) {}
  ArraySource(ArrayView view) : view_(std::move(view)) {}
  // Item `item` along the first axis of a file: one image of a batch (N, C, H, W) or (N, H, W).
  static ArraySource Item(std::string path, int64_t item) {
    ArraySource source(std::move(path));
    source.item_ = item;
    return source;
  }
  // A prediction with one file per class, in the order of the classes, each (spatial...).
  static ArraySource PerClass(std::vector<std::string> paths) {
    ArraySource source(paths.empty() ? std::string() : paths.front());
    source.class_paths_ = std::move(paths);
    return source;
  }

  bool empty() const noexcept { return path_.empty() && !view_; }
  bool in_memory() const noexcept { return view_.has_value(); }
  // Empty where it is in memory; the first of one file per class.
  const std::string& path() const noexcept { return path_; }
  std::optional<int64_t> item() const noexcept { return item_; }
  const std::vector<std::string>& class_paths() const noexcept { return class_paths_; }
  const ArrayView& view() const { return view_.value(); }

  bool operator==(const ArraySource&) const = default;

 private:
  std::string path_;
  std::optional<int64_t> item_;
  std::vector<std::string> class_paths_;
  std::optional<ArrayView> view_;
};

// One image or volume: the predictions of all members, and what is known about it. Files and memory
// may be mixed.
struct Case {
  std::string id;
  std::vector<ArraySource> members = {};  // (C, spatial...), or (spatial..., C) by the layout
  ArraySource labels = {};                // empty: unlabelled, can only be applied to
  ArraySource image = {};                 // empty: none; (spatial...) or (spatial..., channels)
  ArraySource mask = {};                  // empty: none; zero voxels take no part
  // Per spatial axis, slowest first; empty: from the label file, else 1.
  std::vector<double> spacing = {};
  std::string group = {};  // cases of one group stay on one side of a split; empty: its own
  std::string split = {};  // "calibration", "validation", "test", ...; empty: none
  // For label fusion: a label map per member, which then predicts whether that map is "wrong" or
  // "right" (segcal/fuse.h). Empty: members predict classes, as everywhere else.
  std::vector<ArraySource> candidates = {};
};

// Where the classes are in the shape of a prediction.
enum class Layout { kChannelsFirst, kChannelsLast };

// As in files and messages: "channels_first", "channels_last".
constexpr const char* Name(Layout layout) noexcept {
  return layout == Layout::kChannelsFirst ? "channels_first" : "channels_last";
}

// A list of cases and what they share; the file format is described in docs/formats.md.
struct Dataset {
  std::string name = {};
  std::vector<std::string> classes = {};
  // "#rrggbb" of every class, for pictures; empty: colours of ours.
  std::vector<std::string> colors = {};
  std::optional<InputKind> input = {};  // must be stated
  std::optional<int64_t> ignore_label = {};
  std::optional<int64_t> background = {};  // class that is "nothing" for overlap metrics
  Layout layout = Layout::kChannelsFirst;
  std::string key = {};  // member of .npz predictions; empty: found by itself
  // Value in the label file -> class index or ignore_label; empty: values are class indices. A
  // value that is not listed is an error.
  std::map<int64_t, int64_t> label_map = {};
  std::vector<Case> cases = {};

  // Not part of the file: where relative paths start, and the file itself where it was read.
  std::string folder = {};
  std::string file = {};

  int64_t num_classes() const noexcept { return static_cast<int64_t>(classes.size()); }
};

// What every case must have: predictions, which most of segcal works on, or an image, where a
// network is still to see it. Of images, `members` and `input` may be missing.
enum class Contents { kPredictions, kImages };

// Reads and checks a data set file, or the dataset.json of a folder. Files of cases are not opened.
SEGCAL_EXPORT Dataset LoadDataset(const std::string& path,
                                  Contents contents = Contents::kPredictions);

// Throws unless the fields of a data set fit each other: classes, labels, ids and members of cases.
// `where` starts the message. Everything that takes a data set checks it.
SEGCAL_EXPORT void CheckDataset(const Dataset& dataset,
                                const std::string& where,
                                Contents contents = Contents::kPredictions);

// Checks and writes a data set file; relative paths are written as they are. Arrays in memory
// cannot be written: an Error names the case.
SEGCAL_EXPORT void SaveDataset(const std::string& path,
                               const Dataset& dataset,
                               Contents contents = Contents::kPredictions);

// The cases of one split, in order; an unknown split is an error that lists the known ones.
SEGCAL_EXPORT Dataset SelectSplit(const Dataset& dataset, const std::string& split);

// Assigns splits at random, whole groups at a time, in the given proportions, deterministic by
// seed. Groups are divided by largest remainder, and no split stays empty as long as there are
// groups for all: 0.4, 0.2, 0.4 of six groups are 3, 1, 2. Proportions that are whole numbers
// summing to the number of groups are exact counts.
SEGCAL_EXPORT void AssignSplits(Dataset* dataset,
                                const std::vector<std::pair<std::string, double>>& proportions,
                                uint64_t seed);

}  // namespace segcal
