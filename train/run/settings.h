// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "core/options.h"
#include "segcal/dataset.h"
#include "train/images/image_case.h"
#include "train/images/patch.h"
#include "train/net/unet.h"

namespace segcal::train {

// How networks are trained; the defaults are those of [Murugesan23], but for a smaller network.
struct TrainSettings {
  std::string loss = "ce";
  OptionMap loss_options;
  std::vector<double> class_weights;  // empty: all the same
  int64_t members = 1;
  // K: the training cases are dealt into K parts, and a member is K networks, each of which learns
  // from all parts but one. 0: a member is one network, which learns from all of them.
  int64_t folds = 0;
  uint64_t seed = 1;
  UNetOptions network;  // axes 0: those of the images; channels and classes come from the data
  int64_t epochs = 100;
  int64_t batch = 16;
  double rate = 1e-3;        // a tenth of it after half of the epochs
  Extent patch = {0, 0, 0};  // 0: the image's, at most 128 (planes) or 64 (volumes)
  int64_t patches = 1;       // of every plane or volume, per epoch
  AugmentOptions augment;
  bool normalise_each = false;  // every image by itself, else all by the training images
  std::string train_split = "train";
  std::string validation_split = "validation";
};

// What there is to learn from, ready for the network.
struct TrainData {
  std::vector<std::string> classes;
  int64_t background = -1;
  int64_t spatial_axes = 2;
  int64_t channels = 1;
  Normalisation normalisation;
  std::vector<ImageCase> train;
  std::vector<ImageCase> validation;
  std::map<std::string, int64_t> fold_of;  // of the training cases, by id; empty: no folds
  uint64_t hash = 0;                       // of images and labels
};

// Reads the two splits and checks all of it; completes the settings by what the data tells.
TrainData ReadTrainData(const Dataset& dataset, TrainSettings* settings);

// What a run is, without where it is: the content of training.json.
Json DescribeRun(const TrainSettings& settings, const TrainData& data);

// What `predict` needs of it.
struct RunDescription {
  std::vector<std::string> classes;
  int64_t background = -1;
  int64_t spatial_axes = 2;
  int64_t members = 1;
  int64_t folds = 0;
  std::map<std::string, int64_t> fold_of;  // as in TrainData
  std::set<std::string> learned;           // ids of the training cases
  UNetOptions network;
  Normalisation normalisation;
};
RunDescription ReadRun(const std::string& folder);

}  // namespace segcal::train
