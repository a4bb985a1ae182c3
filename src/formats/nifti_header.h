// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "formats/array.h"
#include "formats/bytes.h"
#include "formats/stream.h"

namespace segcal {

// Where a volume lies in space, as the header stores it.
struct NiftiGeometry {
  std::array<double, 8> pixdim{};  // [0] is the handedness of the quaternion, then x, y, z, ...
  int units = 0;                   // xyzt_units; the low three bits are the unit of length
  int qform_code = 0;
  int sform_code = 0;
  std::array<double, 6> qform{};   // quaternion b, c, d; offset x, y, z
  std::array<double, 12> sform{};  // three rows of the affine map
};

// The fields we use, of either version.
struct NiftiHeader {
  bool swap = false;  // the file has the other byte order
  std::array<int64_t, 8> dim{};
  DType dtype = DType::kU8;
  double slope = 0.0;
  double inter = 0.0;
  int64_t data_offset = 0;
  NiftiGeometry geometry;
};

// Reads and checks the header at the start of a stream; `header_bytes` is what was consumed.
NiftiHeader ReadNiftiHeader(ByteStream* stream, const std::string& name, int64_t* header_bytes);

// The header of a file, plain or gzip; none where it is of another format.
std::optional<NiftiHeader> ReadNiftiFileHeader(const std::string& path);

// Whether the axes of the array run to the right, the front and the top, each by less than 45
// degrees from it. Not where a file has neither sform nor qform, of which readers make different
// things.
bool IsRasOrder(const NiftiGeometry& geometry);

// Shape, slowest axis first, and spacing in millimetres of what a header describes.
ArrayInfo NiftiArrayInfo(const NiftiHeader& header, const std::string& name);

// Header and the four bytes after it, for data that follows at once. Version 1, or 2 where an axis
// is too long for it.
Bytes EncodeNiftiHeader(const NiftiHeader& header);

// dim of a header for an array: (Z, Y, X) becomes 3, X, Y, Z and (C, Z, Y, X) becomes 4, X, Y, Z,
// C.
std::array<int64_t, 8> NiftiDim(const std::string& name, const ArrayInfo& info);

// Axes along those of the array, spaced by info.spacing (1 where it is empty), origin zero.
NiftiGeometry PlainGeometry(const ArrayInfo& info);

// Throws if NIfTI has no such element type.
void CheckNiftiType(const std::string& name, DType dtype);

}  // namespace segcal
