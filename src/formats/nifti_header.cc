// SPDX-License-Identifier: Apache-2.0
#include "formats/nifti_header.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/throw.h"
#include "formats/nifti_layout.h"

namespace segcal {
namespace {

class FieldReader {
 public:
  FieldReader(const Bytes& bytes, bool swap) : bytes_(bytes), swap_(swap) {}

  int64_t Int(int64_t at, int width) const {
    const std::byte* from = bytes_.data() + at;
    if (width == 1) return Load<uint8_t>(from, swap_);
    if (width == 2) return Load<int16_t>(from, swap_);
    if (width == 4) return Load<int32_t>(from, swap_);
    return Load<int64_t>(from, swap_);
  }
  double Real(int64_t at, int width) const {
    const std::byte* from = bytes_.data() + at;
    return width == 4 ? double{Load<float>(from, swap_)} : Load<double>(from, swap_);
  }
  template <size_t n>
  void Reals(int64_t at, int width, std::array<double, n>* out) const {
    for (size_t i = 0; i < n; ++i) (*out)[i] = Real(at + static_cast<int64_t>(i) * width, width);
  }
  std::string_view Text(int64_t at, size_t size) const {
    return {reinterpret_cast<const char*>(bytes_.data()) + at, size};
  }

 private:
  const Bytes& bytes_;
  bool swap_;
};

// Version and byte order follow from the header's own length, its first field.
const NiftiLayout& ChooseLayout(const std::string& name, const std::byte* start, bool* swap) {
  for (const bool other : {false, true}) {
    *swap = other;
    const auto length = Load<int32_t>(start, other);
    if (length == kNiftiLayout1.bytes) return kNiftiLayout1;
    if (length == kNiftiLayout2.bytes) return kNiftiLayout2;
  }
  Throw(ErrorCode::kBadData,
        "{}: not NIfTI: no header length of 348 or 540 in its first bytes",
        name);
}

void CheckMagic(const std::string& name, const NiftiLayout& layout, const FieldReader& fields) {
  const std::string_view magic = fields.Text(layout.magic, layout.single_magic.size());
  if (magic == layout.single_magic) return;
  if (magic == layout.pair_magic) {
    Throw(ErrorCode::kUnsupported,
          "{}: the header of a .hdr/.img pair, header and data in one .nii file are required",
          name);
  }
  Throw(ErrorCode::kUnsupported, "{}: no NIfTI mark in the header (ANALYZE 7.5 is not read)", name);
}

DType ReadType(const std::string& name, const NiftiLayout& layout, const FieldReader& fields) {
  const int64_t code = fields.Int(layout.datatype, 2);
  const int64_t bits = fields.Int(layout.bitpix, 2);
  for (const NiftiType& type : kNiftiTypes) {
    if (type.code != code) continue;
    if (bits != 8 * ElementSize(type.dtype)) {
      Throw(ErrorCode::kBadData,
            "{}: {} bits per voxel, {} has {}",
            name,
            bits,
            Name(type.dtype),
            8 * ElementSize(type.dtype));
    }
    return type.dtype;
  }
  Throw(ErrorCode::kUnsupported,
        "{}: NIfTI data type {}, integers of 8 to 64 bits, float32 or float64 are required",
        name,
        code);
}

void ReadDim(const std::string& name,
             const NiftiLayout& layout,
             const FieldReader& fields,
             NiftiHeader* header) {
  for (size_t i = 0; i < 8; ++i) {
    header->dim[i] =
        fields.Int(layout.dim + static_cast<int64_t>(i) * layout.dim_width, layout.dim_width);
  }
  if (header->dim[0] < 1 || header->dim[0] > 7) {
    Throw(ErrorCode::kBadData, "{}: dim[0] is {}, 1 to 7 is required", name, header->dim[0]);
  }
  for (int64_t i = 1; i <= header->dim[0]; ++i) {
    const int64_t length = header->dim[static_cast<size_t>(i)];
    if (length < 1)
      Throw(ErrorCode::kBadData, "{}: dim[{}] is {}, 1 or more is required", name, i, length);
  }
}

int64_t ReadDataOffset(const std::string& name,
                       const NiftiLayout& layout,
                       const FieldReader& fields) {
  constexpr int64_t kExtensionBytes = 4;
  constexpr double kMaxExact = 0x1p53;
  // A float in version 1, an integer in version 2.
  const double offset = layout.dim_width == 2
                            ? fields.Real(layout.vox_offset, 4)
                            : static_cast<double>(fields.Int(layout.vox_offset, 8));
  const auto least = static_cast<double>(layout.bytes + kExtensionBytes);
  if (!(offset >= least && offset < kMaxExact) || offset != std::floor(offset)) {
    Throw(ErrorCode::kBadData,
          "{}: vox_offset is {}, a whole number of at least {} is required",
          name,
          offset,
          least);
  }
  return static_cast<int64_t>(offset);
}

NiftiGeometry ReadGeometry(const NiftiLayout& layout, const FieldReader& fields) {
  NiftiGeometry geometry;
  geometry.units = static_cast<int>(fields.Int(layout.units, layout.units_width));
  geometry.qform_code = static_cast<int>(fields.Int(layout.qform_code, layout.code_width));
  geometry.sform_code = static_cast<int>(fields.Int(layout.sform_code, layout.code_width));
  fields.Reals(layout.pixdim, layout.real_width, &geometry.pixdim);
  fields.Reals(layout.qform, layout.real_width, &geometry.qform);
  fields.Reals(layout.sform, layout.real_width, &geometry.sform);
  return geometry;
}

// A slope of 0 or NaN means that values are as stored.
void ReadScaling(const std::string& name,
                 const NiftiLayout& layout,
                 const FieldReader& fields,
                 NiftiHeader* header) {
  const double slope = fields.Real(layout.slope, layout.real_width);
  const double inter = fields.Real(layout.inter, layout.real_width);
  if (slope == 0.0 || std::isnan(slope) || (slope == 1.0 && inter == 0.0)) return;
  if (!std::isfinite(slope) || !std::isfinite(inter)) {
    Throw(ErrorCode::kBadData,
          "{}: scl_slope {} and scl_inter {}, finite numbers are required",
          name,
          slope,
          inter);
  }
  header->slope = slope;
  header->inter = inter;
}

// Number of axes without the unit ones at the end, of which the first three are always kept.
size_t SignificantAxes(const NiftiHeader& header) {
  auto axes = static_cast<size_t>(header.dim[0]);
  while (axes > 3 && header.dim[axes] == 1) --axes;
  return axes;
}

double MillimetresPerUnit(int units) {
  switch (units & 7) {
    case 1:
      return 1e3;  // metres
    case 3:
      return 1e-3;  // micrometres
    default:
      return 1.0;  // millimetres, or not stated
  }
}

std::vector<double> Spacing(const NiftiHeader& header, size_t axes, const std::string& name) {
  const double unit = MillimetresPerUnit(header.geometry.units);
  std::vector<double> spacing;
  for (size_t axis = std::min<size_t>(axes, 3); axis > 0; --axis) {
    const double length = std::fabs(header.geometry.pixdim[axis]);
    if (std::isfinite(length) && length > 0.0) {
      spacing.push_back(length * unit);
    } else if (header.dim[axis] == 1) {
      spacing.push_back(1.0);  // an axis of one voxel has no spacing to state
    } else {
      Throw(ErrorCode::kBadData,
            "{}: pixdim[{}] is {}, a finite number other than 0 is required",
            name,
            axis,
            header.geometry.pixdim[axis]);
    }
  }
  return spacing;
}

}  // namespace

NiftiHeader ReadNiftiHeader(ByteStream* stream, const std::string& name, int64_t* header_bytes) {
  Bytes bytes(4);
  ReadExactly(stream, name, "NIfTI header", bytes);
  NiftiHeader header;
  const NiftiLayout& layout = ChooseLayout(name, bytes.data(), &header.swap);
  bytes.resize(static_cast<size_t>(layout.bytes));
  ReadExactly(stream, name, "NIfTI header", std::span(bytes).subspan(4));
  *header_bytes = layout.bytes;
  const FieldReader fields(bytes, header.swap);
  CheckMagic(name, layout, fields);
  ReadDim(name, layout, fields, &header);
  header.dtype = ReadType(name, layout, fields);
  header.data_offset = ReadDataOffset(name, layout, fields);
  header.geometry = ReadGeometry(layout, fields);
  ReadScaling(name, layout, fields, &header);
  return header;
}

ArrayInfo NiftiArrayInfo(const NiftiHeader& header, const std::string& name) {
  const size_t axes = SignificantAxes(header);
  if (axes > 5 || (axes == 5 && header.dim[4] != 1)) {
    Throw(ErrorCode::kUnsupported,
          "{}: dim is ({}), a volume (X, Y, Z) or a soft map (X, Y, Z, C) or (X, Y, Z, 1, C) is "
          "required",
          name,
          fmt::join(header.dim.begin() + 1, header.dim.begin() + 1 + header.dim[0], ", "));
  }
  ArrayInfo info;
  info.dtype = header.dtype;
  if (axes > 3) info.shape.push_back(header.dim[axes]);
  for (size_t axis = std::min<size_t>(axes, 3); axis > 0; --axis)
    info.shape.push_back(header.dim[axis]);
  info.spacing = Spacing(header, axes, name);
  return info;
}

}  // namespace segcal
