// SPDX-License-Identifier: Apache-2.0
#include "train/run/settings.h"

#include <algorithm>

#include "core/json.h"
#include "core/throw.h"
#include "train/run/networks.h"

namespace segcal::train {
namespace {

// 64-bit FNV-1a over the bytes of values.
template <class T>
void AddToHash(const std::vector<T>& values, uint64_t* hash) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  for (size_t i = 0; i < values.size() * sizeof(T); ++i)
    *hash = (*hash ^ bytes[i]) * 0x100000001B3u;
}

uint64_t HashCases(const std::vector<ImageCase>& first, const std::vector<ImageCase>& second) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const auto* cases : {&first, &second}) {
    for (const ImageCase& image : *cases) {
      AddToHash(image.values, &hash);
      AddToHash(image.labels, &hash);
    }
  }
  return hash;
}

void CheckHasLabels(const std::vector<ImageCase>& cases, const std::string& split) {
  for (const ImageCase& image : cases) {
    if (std::any_of(image.labels.begin(), image.labels.end(), [](int32_t y) { return y >= 0; }))
      return;
  }
  Throw(ErrorCode::kBadData, "no voxel of split \"{}\" has a label", split);
}

// The patch in whole strides of the network, at most the given number of voxels per axis.
void CompletePatch(const TrainData& data, TrainSettings* settings) {
  const UNet net(settings->network);
  const bool planes = settings->network.axes == 2;
  Extent largest = {1, 1, 1};
  for (const ImageCase& image : data.train) {
    for (size_t axis = 0; axis < 3; ++axis)
      largest[axis] = std::max(largest[axis], image.extent[axis]);
  }
  const int64_t most = planes ? 128 : 64;
  for (size_t axis = 0; axis < 3; ++axis) {
    int64_t& side = settings->patch[axis];
    if (side == 0) {
      side = std::min(largest[axis], most);
      side = (side + net.stride() - 1) / net.stride() * net.stride();
    }
    if (axis == 0 && planes) side = 1;
    if (side < 1 || (side % net.stride() != 0 && !(axis == 0 && planes))) {
      Throw(ErrorCode::kInvalidArgument,
            "patch: {} voxels; a multiple of {} is required, since a network of depth {} halves "
            "them that often",
            side,
            net.stride(),
            settings->network.depth);
    }
  }
}

void CheckNumber(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return;
  Throw(ErrorCode::kInvalidArgument, "{} {}: {} to {} is required", name, value, low, high);
}

void CheckSettings(const TrainSettings& settings, const TrainData& data) {
  CheckNumber("members", static_cast<double>(settings.members), 1, kMaxMembers);
  CheckNumber("epochs", static_cast<double>(settings.epochs), 1, 1e6);
  CheckNumber("batch", static_cast<double>(settings.batch), 1, 1e6);
  CheckNumber("patches", static_cast<double>(settings.patches), 1, 1e6);
  CheckNumber("learning rate", settings.rate, 1e-12, 1e30);
  CheckNumber("scale", settings.augment.scale, 0.0, 1.0);
  CheckNumber("intensity", settings.augment.intensity, 0.0, 10.0);
  CheckNumber("noise", settings.augment.noise, 0.0, 10.0);
  if (!settings.class_weights.empty() && settings.class_weights.size() != data.classes.size()) {
    Throw(ErrorCode::kInvalidArgument,
          "class weights: {} numbers for {} classes",
          settings.class_weights.size(),
          data.classes.size());
  }
  if (settings.network.axes == 3 && data.spatial_axes == 2)
    Throw(ErrorCode::kInvalidArgument, "network axes 3: the images have two");
}

Json DescribeNetwork(const UNetOptions& network) {
  return {{"axes", network.axes},
          {"channels", network.channels},
          {"classes", network.classes},
          {"width", network.width},
          {"depth", network.depth}};
}

UNetOptions ReadNetwork(const Json& json, const std::string& where) {
  JsonObject object(json, where + ": network");
  UNetOptions network;
  network.axes = object.Integer("axes");
  network.channels = object.Integer("channels");
  network.classes = object.Integer("classes");
  network.width = object.Integer("width");
  network.depth = object.Integer("depth");
  object.Finish();
  return network;
}

std::map<std::string, int64_t> ReadFolds(const Json& json,
                                         int64_t folds,
                                         const std::string& where) {
  std::map<std::string, int64_t> fold_of;
  JsonObject object(json, where + ": fold_of");
  for (const auto& [id, unused] : json.items()) {
    const int64_t fold = object.Integer(id);
    if (fold < 0 || fold >= folds)
      Throw(ErrorCode::kBadData, "{}: fold_of: {}: fold {} of {}", where, id, fold, folds);
    fold_of[id] = fold;
  }
  return fold_of;
}

// The numbers of a file that somebody may have edited must fit each other.
void CheckRun(const RunDescription& run, const std::string& file) {
  const auto channels = static_cast<size_t>(run.network.channels);
  const size_t means = run.normalisation.mean.size();
  const bool fits = run.members >= 1 && run.members <= kMaxMembers && run.folds >= 0 &&
                    run.folds <= 100 && run.network.classes == std::ssize(run.classes) &&
                    (run.spatial_axes == 2 || run.spatial_axes == 3) &&
                    run.network.axes <= run.spatial_axes && (means == 0 || means == channels) &&
                    run.normalisation.spread.size() == means;
  if (fits) return;
  Throw(ErrorCode::kBadData,
        "{}: members, folds, axes, classes and normalisation do not fit each other",
        file);
}

Json Ids(const std::vector<ImageCase>& cases) {
  return JsonItems(cases, [](const ImageCase& image) { return Json(image.id); });
}

}  // namespace

TrainData ReadTrainData(const Dataset& dataset, TrainSettings* settings) {
  TrainData data;
  const Dataset train = SelectSplit(dataset, settings->train_split);
  if (settings->folds != 0) {
    CheckNumber("folds", static_cast<double>(settings->folds), 2, 100);
    data.fold_of = DealFolds(train, settings->folds, settings->seed);
  }
  data.classes = dataset.classes;
  data.background = dataset.background.value_or(-1);
  ReadImagesOptions read{.needs_labels = true};
  data.train = ReadImageCases(train, read);
  data.spatial_axes = read.spatial_axes = std::ssize(data.train.front().shape);
  data.channels = read.channels = data.train.front().channels;
  data.validation = ReadImageCases(SelectSplit(dataset, settings->validation_split), read);
  CheckHasLabels(data.train, settings->train_split);
  CheckHasLabels(data.validation, settings->validation_split);
  data.hash = HashCases(data.train, data.validation);
  if (!settings->normalise_each) data.normalisation = Normalisation::Of(data.train);
  for (auto* cases : {&data.train, &data.validation}) {
    for (ImageCase& image : *cases) data.normalisation.Apply(&image);
  }
  if (settings->network.axes == 0) settings->network.axes = data.spatial_axes;
  settings->network.channels = data.channels;
  settings->network.classes = std::ssize(data.classes);
  CheckSettings(*settings, data);
  CompletePatch(data, settings);
  return data;
}

Json DescribeRun(const TrainSettings& settings, const TrainData& data) {
  Json augment = {{"flips", settings.augment.flips},
                  {"scale", settings.augment.scale},
                  {"intensity", settings.augment.intensity},
                  {"noise", settings.augment.noise}};
  return {{"segcal_training", 1},
          {"loss", settings.loss},
          {"loss_options", settings.loss_options},
          {"class_weights", settings.class_weights},
          {"members", settings.members},
          {"folds", settings.folds},
          {"fold_of", data.fold_of},
          {"seed", settings.seed},
          {"network", DescribeNetwork(settings.network)},
          {"epochs", settings.epochs},
          {"batch", settings.batch},
          {"learning_rate", settings.rate},
          {"patch", settings.patch},
          {"patches", settings.patches},
          {"augment", std::move(augment)},
          {"classes", data.classes},
          {"background", data.background},
          {"spatial_axes", data.spatial_axes},
          {"mean", data.normalisation.mean},
          {"spread", data.normalisation.spread},
          {"train", Ids(data.train)},
          {"validation", Ids(data.validation)},
          {"data_hash", fmt::format("{:016x}", data.hash)}};
}

RunDescription ReadRun(const std::string& folder) {
  const std::string file = RunFile(folder);
  const Json json = ReadJson(file);
  JsonObject object(json, file);
  object.CheckFormat("segcal_training", "training run", 1);
  RunDescription run;
  run.classes = object.Strings("classes");
  run.background = object.Integer("background");
  run.spatial_axes = object.Integer("spatial_axes");
  run.members = object.Integer("members");
  run.folds = object.Integer("folds");
  run.fold_of = ReadFolds(object.Object("fold_of"), run.folds, file);
  const std::vector<std::string> train = object.Strings("train");
  run.learned = {train.begin(), train.end()};
  run.network = ReadNetwork(object.Object("network"), file);
  run.normalisation.mean = object.Numbers("mean");
  run.normalisation.spread = object.Numbers("spread");
  CheckRun(run, file);
  return run;
}

}  // namespace segcal::train
