// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "formats/nifti_header.h"
#include "formats/nifti_place.h"

namespace segcal {
namespace {

// How far each axis of the array runs along the axis of space with its number, 1 at most: the
// diagonal of the direction cosines.
std::array<double, 3> SformCosines(const std::array<double, 12>& rows) {
  std::array<double, 3> cosines{};
  for (size_t axis = 0; axis < 3; ++axis) {
    const double length = std::hypot(rows[axis], rows[4 + axis], rows[8 + axis]);
    cosines[axis] = length > 0.0 ? rows[5 * axis] / length : 0.0;
  }
  return cosines;
}

// Of the rotation by the unit quaternion (a, b, c, d); pixdim[0] mirrors the third axis.
std::array<double, 3> QformCosines(const NiftiGeometry& geometry) {
  const double b2 = geometry.qform[0] * geometry.qform[0];
  const double c2 = geometry.qform[1] * geometry.qform[1];
  const double d2 = geometry.qform[2] * geometry.qform[2];
  const double a2 = std::max(0.0, 1.0 - b2 - c2 - d2);
  const double mirror = geometry.pixdim[0] < 0.0 ? -1.0 : 1.0;
  return {a2 + b2 - c2 - d2, a2 + c2 - b2 - d2, mirror * (a2 + d2 - b2 - c2)};
}

}  // namespace

bool IsRasOrder(const NiftiGeometry& geometry) {
  if (geometry.sform_code <= 0 && geometry.qform_code <= 0) return false;
  const std::array<double, 3> cosines =
      geometry.sform_code > 0 ? SformCosines(geometry.sform) : QformCosines(geometry);
  // Within 45 degrees of an axis there is no other that is nearer.
  return std::all_of(
      cosines.begin(), cosines.end(), [](double cosine) { return cosine > std::sqrt(0.5); });
}

std::optional<NiftiPlace> ReadNiftiPlace(const std::string& path) {
  const std::optional<NiftiHeader> header = ReadNiftiFileHeader(path);
  if (!header) return std::nullopt;
  NiftiPlace place{.lengths = {1, 1, 1}, .is_ras = IsRasOrder(header->geometry)};
  for (size_t axis = 0; axis < 3 && static_cast<int64_t>(axis) < header->dim[0]; ++axis)
    place.lengths[axis] = header->dim[axis + 1];
  return place;
}

}  // namespace segcal
