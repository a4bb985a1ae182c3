// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/export.h"

namespace segcal {

// File names in which {case}, {member}, {class} and {group} stand for one or more characters
// without a slash (the same text wherever the same field appears twice) and * for any number of
// them. {case} is required in each, except in batches. With {class} a prediction has one file per
// class.
struct IndexPatterns {
  // One pattern with {member}, or one per member.
  std::vector<std::string> members;
  std::string labels;
  std::string images;
  std::string masks;
};

struct IndexOptions {
  IndexPatterns patterns;
  // Whether a case may lack the labels, image or mask that there is a pattern for.
  bool allow_missing = false;

  std::optional<InputKind> input;  // what the predictions are; must be stated, never guessed
  Layout layout = Layout::kChannelsFirst;
  std::string key;   // array inside .npz files; empty: found by itself
  std::string name;  // of the data set; empty: that of its folder

  // In channel order; empty: numbered by the channels of the first prediction.
  std::vector<std::string> classes;
  // nnU-Net's dataset.json, whose class names, background and ignore label are taken; empty: that
  // of nnunet_folders where they are given, else none.
  std::string nnunet;
  // Folders that nnU-Net wrote, in place of patterns.members:
  // - a trained model: its fold_*/validation hold every case once, predicted by the fold that was
  //   not trained on it; they are one member, the set to calibrate on;
  // - predictions <case>.npz, of a fold or of another model: each folder is a member.
  // Then the input is probabilities, and patterns.labels and patterns.images may be folders. Labels
  // of a trained model that are not given are looked for where nnU-Net keeps them.
  std::vector<std::string> nnunet_folders;
  // The first axis of every file counts images: item 3 of the file of case "b" is the case "b_3";
  // where a pattern has no {case}, it is the case "3".
  bool batch = false;
  bool group_by_fold = false;  // cases of one fold are a group
  // In place of nnU-Net's, where both are given.
  std::optional<int64_t> ignore_label;
  std::optional<int64_t> background;
  std::string label_map;  // as for LoadLabelMap; empty: none. What it ignores is 255
  // As for FindLabelSet: brings class names, colours and, unless others are given, the label map,
  // ignore label and background; empty: none.
  std::string label_set;

  // Names and proportions as for AssignSplits; empty: no splits.
  std::vector<std::pair<std::string, double>> splits;
  uint64_t seed = 0;  // of the splits
};

struct IndexResult {
  std::string file;
  Dataset dataset;
  // The prediction whose channels gave the number of classes; empty where classes have names.
  std::string numbered_by;
  std::vector<std::string> notes;  // what was found in folders of nnU-Net
};

// The data set that `segcal index` writes: cases from file name patterns, with paths relative to
// the folder of `file`, which must be there. Every case must have all members. The first case is
// opened and checked, since what is wrong with all shows there. Nothing is written:
// SaveDataset(file, dataset) does.
SEGCAL_EXPORT IndexResult Index(const std::string& file, const IndexOptions& options);

// Names for classes that have none: "class_0", "class_1", ...
SEGCAL_EXPORT std::vector<std::string> NumberedClasses(int64_t num_classes);

// File, number of cases and members, and classes, as documented in docs/formats.md.
SEGCAL_EXPORT std::string ToJson(const IndexResult& result);

// The classes of a published data set, as many predictions have them.
struct LabelSet {
  std::string name;
  std::string source = {};  // what it is, and which label files it is for
  std::vector<std::string> classes = {};
  std::vector<std::string> colors = {};  // "#rrggbb", of the data set's own figures
  int64_t ignore_label = 255;
  std::optional<int64_t> background = {};
  std::map<int64_t, int64_t> label_map = {};  // empty: label files hold class indices
};

// The known ones: ade20k, camvid, cityscapes, cityscapes_train_ids, voc.
SEGCAL_EXPORT std::vector<LabelSet> ListLabelSets();
// The one of that name; an unknown one is an Error that lists the known ones.
SEGCAL_EXPORT LabelSet FindLabelSet(const std::string& name);

// A label map by name: "cityscapes" (labelIds to the 19 trainIds, the rest ignored) "ade20k"
// (1..150 to 0..149, 0 ignored) or "camvid" (11 ignored); otherwise a JSON file {"7": 0, ...}.
// Ignored values go to 255.
SEGCAL_EXPORT std::map<int64_t, int64_t> LoadLabelMap(const std::string& name_or_path);

}  // namespace segcal
