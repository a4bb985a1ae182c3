// SPDX-License-Identifier: Apache-2.0
#include "data/label_maps.h"

#include <charconv>

#include "core/json.h"
#include "core/throw.h"
#include "segcal/index.h"

namespace segcal {
namespace {

constexpr int64_t kIgnored = 255;

// Label ids of the 19 evaluated classes of Cityscapes, in the order of their train ids.
constexpr int64_t kCityscapes[] = {
    7, 8, 11, 12, 13, 17, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 31, 32, 33};
constexpr int64_t kCityscapesIds = 34;

std::map<int64_t, int64_t> Cityscapes() {
  std::map<int64_t, int64_t> map = {{-1, kIgnored}, {kIgnored, kIgnored}};
  for (int64_t id = 0; id < kCityscapesIds; ++id) map[id] = kIgnored;
  int64_t train_id = 0;
  for (const int64_t id : kCityscapes) map[id] = train_id++;
  return map;
}

std::map<int64_t, int64_t> Ade20k() {
  std::map<int64_t, int64_t> map = {{0, kIgnored}, {kIgnored, kIgnored}};
  for (int64_t id = 1; id <= 150; ++id) map[id] = id - 1;
  return map;
}

// The 11 classes of SegNet, whose files have 11 for void; others have 255.
std::map<int64_t, int64_t> Camvid() {
  std::map<int64_t, int64_t> map = {{11, kIgnored}, {kIgnored, kIgnored}};
  for (int64_t id = 0; id < 11; ++id) map[id] = id;
  return map;
}

}  // namespace

std::map<int64_t, int64_t> ParseLabelMap(const Json& json, const std::string& where) {
  if (!json.is_object())
    Throw(ErrorCode::kBadData, "{}: an object {{\"from\": to}} is required", where);
  std::map<int64_t, int64_t> map;
  for (const auto& [key, value] : json.items()) {
    int64_t from = 0;
    const char* end = key.data() + key.size();
    const auto result = std::from_chars(key.data(), end, from);
    if (key.empty() || result.ec != std::errc() || result.ptr != end) {
      Throw(ErrorCode::kBadData, "{}: \"{}\" is not a whole number", where, key);
    }
    if (!value.is_number_integer()) {
      Throw(ErrorCode::kBadData,
            "{}: \"{}\" is sent to {}, a whole number is required",
            where,
            key,
            value.dump());
    }
    if (!map.emplace(from, value.get<int64_t>()).second) {
      Throw(ErrorCode::kBadData, "{}: {} is given twice", where, from);
    }
  }
  return map;
}

std::map<int64_t, int64_t> LoadLabelMap(const std::string& name_or_path) {
  if (name_or_path == "cityscapes") return Cityscapes();
  if (name_or_path == "ade20k") return Ade20k();
  if (name_or_path == "camvid") return Camvid();
  return ParseLabelMap(ReadJson(name_or_path), name_or_path);
}

}  // namespace segcal
