// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>

#include "core/throw.h"
#include "formats/nifti_header.h"
#include "formats/nifti_layout.h"

namespace segcal {
namespace {

// 0 where there is none. A bool is stored as uint8.
int NiftiCode(DType dtype) {
  if (dtype == DType::kBool) dtype = DType::kU8;
  for (const NiftiType& type : kNiftiTypes) {
    if (type.dtype == dtype) return type.code;
  }
  return 0;
}

class FieldWriter {
 public:
  explicit FieldWriter(Bytes* bytes) : bytes_(bytes) {}

  void Int(int64_t at, int width, int64_t value) {
    std::byte* to = bytes_->data() + at;
    if (width == 1) StoreLittle(to, static_cast<uint8_t>(value));
    if (width == 2) StoreLittle(to, static_cast<int16_t>(value));
    if (width == 4) StoreLittle(to, static_cast<int32_t>(value));
    if (width == 8) StoreLittle(to, value);
  }
  void Real(int64_t at, int width, double value) {
    std::byte* to = bytes_->data() + at;
    if (width == 4) StoreLittle(to, static_cast<float>(value));
    if (width == 8) StoreLittle(to, value);
  }
  template <size_t n>
  void Reals(int64_t at, int width, const std::array<double, n>& values) {
    for (size_t i = 0; i < n; ++i) Real(at + static_cast<int64_t>(i) * width, width, values[i]);
  }

 private:
  Bytes* bytes_;
};

}  // namespace

Bytes EncodeNiftiHeader(const NiftiHeader& header) {
  const int64_t longest = *std::max_element(header.dim.begin(), header.dim.end());
  const NiftiLayout& layout =
      longest > std::numeric_limits<int16_t>::max() ? kNiftiLayout2 : kNiftiLayout1;
  Bytes bytes(static_cast<size_t>(layout.bytes) + 4);
  FieldWriter fields(&bytes);
  fields.Int(0, 4, layout.bytes);
  std::memcpy(bytes.data() + layout.magic, layout.single_magic.data(), layout.single_magic.size());
  for (size_t i = 0; i < 8; ++i) {
    fields.Int(
        layout.dim + static_cast<int64_t>(i) * layout.dim_width, layout.dim_width, header.dim[i]);
  }
  fields.Int(layout.datatype, 2, NiftiCode(header.dtype));
  fields.Int(layout.bitpix, 2, 8 * ElementSize(header.dtype));
  const auto offset = static_cast<int64_t>(bytes.size());
  if (layout.dim_width == 2) fields.Real(layout.vox_offset, 4, static_cast<double>(offset));
  if (layout.dim_width == 8) fields.Int(layout.vox_offset, 8, offset);
  fields.Real(layout.slope, layout.real_width, 1.0);
  const NiftiGeometry& geometry = header.geometry;
  fields.Int(layout.units, layout.units_width, geometry.units);
  fields.Int(layout.qform_code, layout.code_width, geometry.qform_code);
  fields.Int(layout.sform_code, layout.code_width, geometry.sform_code);
  fields.Reals(layout.pixdim, layout.real_width, geometry.pixdim);
  fields.Reals(layout.qform, layout.real_width, geometry.qform);
  fields.Reals(layout.sform, layout.real_width, geometry.sform);
  return bytes;
}

std::array<int64_t, 8> NiftiDim(const std::string& name, const ArrayInfo& info) {
  const size_t axes = info.shape.size();
  if (axes < 1 || axes > 4 || info.NumElements() == 0) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: shape ({}), one to four axes of at least 1 are required for NIfTI",
          name,
          fmt::join(info.shape.begin(), info.shape.end(), ", "));
  }
  std::array<int64_t, 8> dim;
  dim.fill(1);
  dim[0] = static_cast<int64_t>(axes);
  for (size_t axis = 0; axis < axes; ++axis) dim[axes - axis] = info.shape[axis];
  return dim;
}

NiftiGeometry PlainGeometry(const ArrayInfo& info) {
  constexpr int kMillimetres = 2;
  constexpr int kScanner = 1;
  NiftiGeometry geometry{.units = kMillimetres, .qform_code = kScanner, .sform_code = kScanner};
  geometry.pixdim.fill(1.0);
  const size_t count = std::min<size_t>(info.spacing.size(), 3);
  for (size_t i = 0; i < count; ++i) geometry.pixdim[count - i] = info.spacing[i];
  for (size_t i = 0; i < 3; ++i) geometry.sform[i * 5] = geometry.pixdim[i + 1];
  return geometry;
}

void CheckNiftiType(const std::string& name, DType dtype) {
  if (NiftiCode(dtype) == 0) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: NIfTI has no {}, write float32 instead",
          name,
          Name(dtype));
  }
}

}  // namespace segcal
