// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"
#include "core/throw.h"
#include "data/nnunet.h"

namespace segcal {
namespace {

// A label, given as a number or a list of one; a list of several is a region.
int64_t LabelValue(const std::string& path, const std::string& name, const Json& value) {
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_array() && value.size() == 1 && value[0].is_number_integer())
    return value[0].get<int64_t>();
  if (value.is_array()) {
    Throw(ErrorCode::kUnsupported,
          "{}: \"{}\" is a region of several labels. The channels of region-based training are "
          "sigmoids that overlap, each a yes or no; segcal calibrates a softmax over classes, that "
          "is models trained on the labels themselves",
          path,
          name);
  }
  Throw(ErrorCode::kBadData,
        "{}: label \"{}\" is {}, a whole number is required{}",
        path,
        name,
        value.dump(),
        value.is_string() && name.find_first_not_of("0123456789") == std::string::npos
            ? " (this is the form of nnU-Net 1; that of nnU-Net 2 is {\"background\": 0, ...})"
            : "");
}

}  // namespace

void ReadNnunetLabels(const std::string& path, Dataset* dataset) {
  const Json json = ReadJson(path);
  if (!json.is_object() || !json.contains("labels") || !json["labels"].is_object()) {
    Throw(
        ErrorCode::kBadData, "{}: no \"labels\" object; nnU-Net's dataset.json is required", path);
  }
  std::map<int64_t, std::string> by_value;
  for (const auto& [name, value] : json["labels"].items()) {
    const int64_t label = LabelValue(path, name, value);
    if (name == "ignore") {
      dataset->ignore_label = label;
    } else if (!by_value.emplace(label, name).second) {
      Throw(ErrorCode::kBadData,
            "{}: \"{}\" and \"{}\" have the same label {}",
            path,
            by_value.at(label),
            name,
            label);
    }
  }
  dataset->classes.clear();
  for (const auto& [value, name] : by_value) {
    if (value != static_cast<int64_t>(dataset->classes.size())) {
      Throw(ErrorCode::kBadData, "{}: labels must be 0, 1, 2, ...; {} is out of turn", path, value);
    }
    dataset->classes.push_back(name);
  }
  dataset->background = 0;
}

}  // namespace segcal
