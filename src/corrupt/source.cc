// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>

#include "core/throw.h"
#include "corrupt/image.h"
#include "data/array_source.h"

namespace segcal {
namespace {

namespace fs = std::filesystem;

// The axes of a case without channels, where the case tells: by its labels, else a prediction.
std::vector<int64_t> CaseShape(const ImageSource& source) {
  const Case& entry = *source.entry();
  if (!entry.labels.empty())
    return OpenSource(source.dataset, entry, entry.labels, "labels", {})->info().shape;
  if (entry.members.empty()) return {};
  std::vector<int64_t> shape =
      OpenSource(source.dataset, entry, entry.members[0], "member 0", {})->info().shape;
  if (shape.empty()) return shape;
  shape.erase(source.dataset.layout == Layout::kChannelsLast ? shape.end() - 1 : shape.begin());
  return shape;
}

// The axes of a file without channels, from its format and the options.
std::vector<int64_t> FileShape(const Array& array,
                               const std::string& path,
                               const CorruptOptions& options) {
  std::vector<int64_t> shape = array.info().shape;
  const std::string_view format = path.empty() ? "" : DetectFormat(path).name;
  const bool volume = format == "nifti";
  const bool flat = format == "png" || format == "jpeg";
  if (shape.size() == 2 || (shape.size() == 3 && volume)) return shape;
  if (shape.size() == 3 && (flat || options.spatial_axes == 2)) return {shape[0], shape[1]};
  if (shape.size() == 3 && options.spatial_axes == 3) return shape;
  if (shape.size() == 3) {
    Throw(
        ErrorCode::kInvalidArgument,
        "{}: shape ({}) is an image with channels or a volume; 2 or 3 spatial axes must be stated",
        array.name(),
        fmt::join(shape, ", "));
  }
  if (shape.size() == 4 && !volume) return {shape[0], shape[1], shape[2]};
  Throw(ErrorCode::kUnsupported,
        "{}: shape ({}); (H, W), (H, W, channels), (D, H, W) or (D, H, W, channels) is required",
        array.name(),
        fmt::join(shape, ", "));
}

}  // namespace

std::vector<ImageSource> ListImages(const Dataset& dataset, const CorruptOptions& options) {
  CheckDataset(dataset, "data set \"" + dataset.name + "\"", Contents::kImages);
  Dataset one = dataset;
  const Dataset chosen = options.split.empty() ? dataset : SelectSplit(dataset, options.split);
  std::vector<ImageSource> sources;
  for (const Case& entry : chosen.cases) {
    one.cases = {entry};
    const std::string path = entry.image.in_memory() ? "" : FullPath(dataset, entry.image);
    sources.push_back({.id = entry.id, .path = path, .dataset = one});
  }
  return sources;
}

std::vector<ImageSource> ListImages(const std::vector<std::string>& files) {
  std::map<std::string, std::string> seen;
  std::vector<ImageSource> sources;
  for (const std::string& path : files) {
    const std::string id = WithoutExtension(fs::path(path).filename().string());
    const auto [other, is_new] = seen.try_emplace(id, path);
    if (!is_new) {
      Throw(ErrorCode::kInvalidArgument,
            "{} and {} are both called \"{}\"; images need names of their own",
            other->second,
            path,
            id);
    }
    sources.push_back({.id = id, .path = path, .dataset = {}});
  }
  return sources;
}

const ImageSource& FindImage(const std::vector<ImageSource>& sources, const std::string& id) {
  for (const ImageSource& source : sources) {
    if (id.empty() || source.id == id) return source;
  }
  Throw(ErrorCode::kInvalidArgument, "there is no image \"{}\" among {}", id, sources.size());
}

Image OpenImage(const ImageSource& source, const CorruptOptions& options) {
  std::vector<int64_t> spatial;
  std::unique_ptr<Array> array;
  if (source.entry() != nullptr) {
    spatial = CaseShape(source);
    array = OpenSource(source.dataset, *source.entry(), source.entry()->image, "image", {});
  } else {
    array = OpenArray(source.path);
  }
  if (spatial.empty()) spatial = FileShape(*array, source.path, options);
  return Image(std::move(array), spatial, options);
}

std::vector<std::string> FindImages(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    if (entry.is_regular_file(error) && FormatByExtension(path) != nullptr) files.push_back(path);
  }
  if (error) Throw(ErrorCode::kIo, "{}: cannot be listed: {}", folder, error.message());
  if (files.empty()) {
    std::string known;
    for (const FormatInfo* format : Formats()) known += std::string(" ") + format->extensions;
    Throw(ErrorCode::kBadData, "{}: no images; files of{} are looked for", folder, known);
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace segcal
