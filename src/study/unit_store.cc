// SPDX-License-Identifier: Apache-2.0
#include "study/unit_store.h"

#include <filesystem>

#include "core/file.h"
#include "core/text_hash.h"
#include "core/throw.h"

namespace segcal {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUnitMark = "segcal unit 1";
constexpr int64_t kMaxUnitBytes = int64_t{1} << 30;

bool HoldsUnits(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".unit") return true;
  }
  return false;
}

std::string ArrayKey(const Dataset& dataset, const Case& c, const ArraySource& array) {
  if (array.empty()) return "-";
  if (array.in_memory()) {
    Throw(ErrorCode::kInvalidArgument,
          "case {} has arrays in memory: a study of them cannot be resumed",
          c.id);
  }
  const fs::path path = fs::path(dataset.folder) / array.path();
  std::error_code error;
  const auto size = fs::file_size(path, error);
  // What cannot be read fails where it is read, with a better message.
  if (error) return array.path() + "?";
  const auto changed = fs::last_write_time(path, error).time_since_epoch().count();
  return fmt::format("{}:{}:{}", array.path(), size, changed);
}

}  // namespace

UnitStore::UnitStore(std::string folder, bool resume)
    : folder_(folder.empty() ? "" : (fs::path(folder) / "units").string()) {
  if (folder_.empty()) return;
  if (!resume && HoldsUnits(folder_)) {
    Throw(ErrorCode::kInvalidArgument,
          "{} holds a study: --resume goes on with it; otherwise another folder is required",
          folder);
  }
  CreateFolder(folder_);
}

std::string UnitStore::FileOf(const std::string& key, const char* extension) const {
  return (fs::path(folder_) / fmt::format("{:016x}{}", HashText(key), extension)).string();
}

std::optional<UnitStore::Unit> UnitStore::Find(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const std::string file = FileOf(key, ".unit");
  if (!fs::exists(file)) return std::nullopt;
  const std::string text = ReadText(file, kMaxUnitBytes);
  const size_t first = text.find('\n');
  const size_t second = first == std::string::npos ? first : text.find('\n', first + 1);
  const size_t third = second == std::string::npos ? second : text.find('\n', second + 1);
  if (third == std::string::npos || text.substr(0, first) != kUnitMark) {
    Throw(ErrorCode::kBadData,
          "{}: not a unit of a study; remove the file, and the unit is done again",
          file);
  }
  if (text.substr(first + 1, second - first - 1) != key) return std::nullopt;
  return Unit{.text = text.substr(third + 1),
              .seconds = std::atof(text.substr(second + 1, third - second - 1).c_str())};
}

void UnitStore::Keep(const std::string& key, const Unit& unit) const {
  if (folder_.empty()) return;
  WriteText(FileOf(key, ".unit"),
            fmt::format("{}\n{}\n{:.3f}\n{}", kUnitMark, key, unit.seconds, unit.text));
}

std::string UnitStore::PartFile(const std::string& key) const {
  return folder_.empty() ? "" : FileOf(key, ".part");
}

void UnitStore::RemovePart(const std::string& key) const {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::remove(FileOf(key, ".part"), ignored);
}

std::string DataKey(const Dataset& dataset) {
  std::string text = fmt::format("{} {} {} {} {} {} {}\n",
                                 fmt::join(dataset.classes, ","),
                                 Name(dataset.input.value()),
                                 dataset.ignore_label.value_or(-1),
                                 dataset.background.value_or(-1),
                                 Name(dataset.layout),
                                 dataset.key,
                                 dataset.name);
  for (const auto& [from, to] : dataset.label_map) text += fmt::format("{}>{} ", from, to);
  for (const Case& c : dataset.cases) {
    text += fmt::format("\n{} {} {}", c.id, c.group, fmt::join(c.spacing, ","));
    for (const ArraySource& member : c.members) text += " " + ArrayKey(dataset, c, member);
    for (const ArraySource* array : {&c.labels, &c.image, &c.mask})
      text += " " + ArrayKey(dataset, c, *array);
  }
  return fmt::format("{:016x}", HashText(text));
}

}  // namespace segcal
