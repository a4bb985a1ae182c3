// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "core/dtype.h"

namespace segcal {

// Byte positions of the fields. Numbers have one of three widths per version: axis lengths, codes,
// reals.
struct NiftiLayout {
  int64_t bytes;
  int dim_width;
  int code_width;
  int units_width;
  int real_width;
  int64_t dim, datatype, bitpix, pixdim, vox_offset, slope, inter, units, qform_code, sform_code,
      qform, sform, magic;
  std::string_view single_magic;  // header and data in one file
  std::string_view pair_magic;    // data in another file
};

constexpr NiftiLayout kNiftiLayout1{.bytes = 348,
                                    .dim_width = 2,
                                    .code_width = 2,
                                    .units_width = 1,
                                    .real_width = 4,
                                    .dim = 40,
                                    .datatype = 70,
                                    .bitpix = 72,
                                    .pixdim = 76,
                                    .vox_offset = 108,
                                    .slope = 112,
                                    .inter = 116,
                                    .units = 123,
                                    .qform_code = 252,
                                    .sform_code = 254,
                                    .qform = 256,
                                    .sform = 280,
                                    .magic = 344,
                                    .single_magic = std::string_view("n+1\0", 4),
                                    .pair_magic = std::string_view("ni1\0", 4)};

constexpr NiftiLayout kNiftiLayout2{.bytes = 540,
                                    .dim_width = 8,
                                    .code_width = 4,
                                    .units_width = 4,
                                    .real_width = 8,
                                    .dim = 16,
                                    .datatype = 12,
                                    .bitpix = 14,
                                    .pixdim = 104,
                                    .vox_offset = 168,
                                    .slope = 176,
                                    .inter = 184,
                                    .units = 500,
                                    .qform_code = 344,
                                    .sform_code = 348,
                                    .qform = 352,
                                    .sform = 400,
                                    .magic = 4,
                                    .single_magic = std::string_view("n+2\0\r\n\x1a\n", 8),
                                    .pair_magic = std::string_view("ni2\0\r\n\x1a\n", 8)};

struct NiftiType {
  int code;
  DType dtype;
};

constexpr NiftiType kNiftiTypes[] = {{2, DType::kU8},
                                     {4, DType::kI16},
                                     {8, DType::kI32},
                                     {16, DType::kF32},
                                     {64, DType::kF64},
                                     {256, DType::kI8},
                                     {512, DType::kU16},
                                     {768, DType::kU32},
                                     {1024, DType::kI64},
                                     {1280, DType::kU64}};

}  // namespace segcal
