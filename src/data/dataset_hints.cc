// SPDX-License-Identifier: Apache-2.0
#include "data/dataset_hints.h"

#include <filesystem>

#include "core/json.h"
#include "core/throw.h"
#include "segcal/files.h"

namespace segcal {
namespace {

constexpr const char* kHowTo = "segcal index makes a data set file from the names of predictions";

// By fields that all versions of nnU-Net write.
bool IsNnunet(const Json& json) {
  return json.is_object() && json.contains("labels") && json.contains("numTraining");
}

void CheckJson(const std::string& file, const Json& json) {
  if (IsNnunet(json)) {
    Throw(
        ErrorCode::kBadData,
        "{}: nnU-Net's, not a data set of segcal; {}, and by option nnunet of index from a folder "
        "of nnU-Net or the classes of this file",
        file,
        kHowTo);
  }
  if (json.is_object() && json.contains("segcal_model"))
    Throw(ErrorCode::kBadData, "{}: a model; a data set is required here", file);
}

}  // namespace

Json ReadDatasetJson(const std::string& given, const std::string& file) {
  std::error_code error;
  if (given != file && !std::filesystem::exists(file, error))
    Throw(ErrorCode::kIo, "{}: the folder holds no dataset.json; {}", given, kHowTo);
  if (HoldsKind(file, FileKind::kArray))
    Throw(ErrorCode::kBadData, "{}: an array, not a data set file; {}", file, kHowTo);
  Json json = ReadJson(file);
  CheckJson(file, json);
  return json;
}

}  // namespace segcal
