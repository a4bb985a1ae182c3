// SPDX-License-Identifier: Apache-2.0
#include "data/case_geometry.h"

#include <algorithm>
#include <filesystem>

#include "core/file.h"
#include "data/array_source.h"
#include "formats/nifti_place.h"

namespace segcal {
namespace {

// Whether a NIfTI file has the spatial shape of a case, slowest axis first.
bool HasShape(const std::string& path, const std::vector<int64_t>& shape) {
  if (!IsFile(path)) return false;
  const std::optional<NiftiPlace> place = ReadNiftiPlace(path);
  if (!place) return false;
  for (size_t axis = 0; axis < 3; ++axis) {
    const int64_t required = axis < shape.size() ? shape[shape.size() - 1 - axis] : 1;
    if (place->lengths[axis] != required) return false;
  }
  return true;
}

}  // namespace

std::string GeometryFile(const Dataset& dataset, const Case& entry, const CaseReader& reader) {
  if (!reader.geometry_file().empty()) return reader.geometry_file();
  std::vector<std::string> candidates;
  if (!entry.image.path().empty() && !entry.image.item())
    candidates.push_back(FullPath(dataset, entry.image));
  for (const ArraySource& member : entry.members) {
    if (member.path().empty() || member.item()) continue;
    for (const char* ending : {".nii.gz", ".nii"}) {
      std::filesystem::path path = FullPath(dataset, member);
      candidates.push_back(path.replace_extension(ending).string());
    }
  }
  const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const auto& path) {
    return HasShape(path, reader.shape());
  });
  return found == candidates.end() ? "" : *found;
}

}  // namespace segcal
