// SPDX-License-Identifier: Apache-2.0
#include <nanobind/ndarray.h>

#include "bind.h"
#include "segcal/error.h"

namespace segcal::python {
namespace {

using ReadOnlyArray = nb::ndarray<nb::ro, nb::device::cpu>;
using WritableArray = nb::ndarray<nb::device::cpu>;

struct TypeName {
  nb::dlpack::dtype type;
  DType dtype;
};

constexpr nb::dlpack::dtype Type(nb::dlpack::dtype_code code, uint8_t bits) {
  return {static_cast<uint8_t>(code), bits, 1};
}

using Code = nb::dlpack::dtype_code;
constexpr TypeName kTypes[] = {{Type(Code::Float, 16), DType::kF16},
                               {Type(Code::Float, 32), DType::kF32},
                               {Type(Code::Float, 64), DType::kF64},
                               {Type(Code::UInt, 8), DType::kU8},
                               {Type(Code::Int, 8), DType::kI8},
                               {Type(Code::UInt, 16), DType::kU16},
                               {Type(Code::Int, 16), DType::kI16},
                               {Type(Code::UInt, 32), DType::kU32},
                               {Type(Code::Int, 32), DType::kI32},
                               {Type(Code::UInt, 64), DType::kU64},
                               {Type(Code::Int, 64), DType::kI64},
                               {Type(Code::Bool, 8), DType::kBool},
                               {Type(Code::Bfloat, 16), DType::kBF16}};

DType TypeOf(nb::dlpack::dtype type) {
  for (const TypeName& known : kTypes) {
    if (known.type == type) return known.dtype;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "an array of a type that is neither a float, a whole number nor bool");
}

template <class View, class Array>
View Describe(nb::handle object, const char* required) {
  Array array;
  if (!nb::try_cast(object, array, /*convert=*/false)) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string("an array that cannot be taken as it is; ") + required);
  }
  View view{.data = array.data(), .dtype = TypeOf(array.dtype())};
  for (size_t axis = 0; axis < array.ndim(); ++axis) {
    view.shape.push_back(static_cast<int64_t>(array.shape(axis)));
    view.strides.push_back(array.stride(axis));
  }
  return view;
}

}  // namespace

DType FloatType(const std::string& name, std::initializer_list<DType> allowed) {
  std::string names;
  for (const DType dtype : allowed) {
    if (name == Name(dtype)) return dtype;
    names += std::string(names.empty() ? "" : " or ") + Name(dtype);
  }
  throw Error(ErrorCode::kInvalidArgument, "dtype \"" + name + "\"; " + names + " is required");
}

ArrayView ViewOf(nb::handle array) {
  return Describe<ArrayView, ReadOnlyArray>(array,
                                            "one of numbers in this process's memory is required");
}

ArraySpan SpanOf(nb::handle array) {
  return Describe<ArraySpan, WritableArray>(array, "a writable one is required");
}

ArraySource SourceOf(nb::handle source) {
  if (source.is_none()) return {};
  if (nb::isinstance<nb::str>(source)) return nb::cast<std::string>(source);
  return ViewOf(source);
}

}  // namespace segcal::python
