// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "calibrators/list.h"
#include "core/file.h"
#include "core/json.h"
#include "core/throw.h"
#include "pipeline/model.h"

namespace segcal {
namespace {

// Where in the list of methods a model's is: uncalibrated predictions come first.
int64_t ListPlace(const Model& model) {
  const auto& list = Calibrators();
  const auto it = std::find_if(list.begin(), list.end(), [&](const CalibratorInfo* info) {
    return info->name == ModelAccess::State(model).spec.stages.front();
  });
  return it - list.begin();
}

// Sorted by name.
std::vector<std::string> ListModelFiles(const std::string& folder) {
  std::error_code error;
  const std::filesystem::directory_iterator entries(folder, error);
  if (error) Throw(ErrorCode::kIo, "{}: cannot list the folder: {}", folder, error.message());
  std::vector<std::string> files;
  for (const auto& entry : entries) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  if (files.empty())
    Throw(ErrorCode::kInvalidArgument, "{}: the folder holds no .json file", folder);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

bool IsModelFile(const std::string& path) {
  if (IsFolder(path)) return false;
  const Json json = ReadJson(path);
  return json.is_object() && json.contains("segcal_model");
}

std::vector<Model> LoadModels(const std::string& path) {
  if (!IsFolder(path)) return {Model::Load(path)};
  std::vector<Model> models;
  for (const std::string& file : ListModelFiles(path)) models.push_back(Model::Load(file));
  std::stable_sort(models.begin(), models.end(), [](const Model& a, const Model& b) {
    return ListPlace(a) < ListPlace(b);
  });
  return models;
}

std::string ModelFileName(const std::string& pipeline) {
  std::string name;
  for (const char c : pipeline) {
    if (c == '(' || c == ',') name += '_';
    if (c != '(' && c != ')' && c != ',' && c != ' ') name += c;
  }
  return name + ".json";
}

}  // namespace segcal
