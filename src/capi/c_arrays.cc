// SPDX-License-Identifier: Apache-2.0
#include "capi/c_arrays.h"

#include <string>

#include "core/throw.h"

namespace segcal {
namespace {

constexpr int32_t kMaxAxes = 8;

// The numbers of C are those of C++.
static_assert(static_cast<int>(DType::kF16) == SEGCAL_F16);
static_assert(static_cast<int>(DType::kF32) == SEGCAL_F32);
static_assert(static_cast<int>(DType::kF64) == SEGCAL_F64);
static_assert(static_cast<int>(DType::kU8) == SEGCAL_U8);
static_assert(static_cast<int>(DType::kI32) == SEGCAL_I32);
static_assert(static_cast<int>(DType::kBool) == SEGCAL_BOOL);
static_assert(static_cast<int>(DType::kBF16) == SEGCAL_BF16);

std::vector<int64_t> Numbers(const int64_t* numbers, int32_t count) {
  if (numbers == nullptr) return {};
  return {numbers, numbers + count};
}

// Shape, strides and type of an input to an ArrayView, of an output to an ArraySpan.
template <class To, class From>
To MakeArray(const From& array, const std::string& what) {
  if (array.data == nullptr) Throw(ErrorCode::kInvalidArgument, "{}: data is NULL", what);
  if (array.shape == nullptr) Throw(ErrorCode::kInvalidArgument, "{}: shape is NULL", what);
  if (array.num_axes < 1 || array.num_axes > kMaxAxes)
    Throw(ErrorCode::kInvalidArgument,
          "{}: num_axes is {}, 1 to {} is required",
          what,
          array.num_axes,
          kMaxAxes);
  if (array.dtype < SEGCAL_F16 || array.dtype > SEGCAL_BF16)
    Throw(ErrorCode::kInvalidArgument,
          "{}: dtype is {}, {} to {} is required",
          what,
          array.dtype,
          static_cast<int>(SEGCAL_F16),
          static_cast<int>(SEGCAL_BF16));
  return {.data = array.data,
          .dtype = static_cast<DType>(array.dtype),
          .shape = Numbers(array.shape, array.num_axes),
          .strides = Numbers(array.strides, array.num_axes)};
}

template <class Array>
std::string NameOf(const Array& array, const char* kind, size_t index) {
  if (array.name == nullptr) Throw(ErrorCode::kInvalidArgument, "{} {}: name is NULL", kind, index);
  return array.name;
}

// Puts an array where nothing is yet.
template <class Slot, class Value>
void Fill(const std::string& name, bool empty, Slot* slot, Value value) {
  if (!empty) Throw(ErrorCode::kInvalidArgument, "\"{}\" is given twice", name);
  *slot = std::move(value);
}

ArraySpan* FindSpan(const std::string& name, ApplyOutputs* outputs) {
  if (name == "probabilities") return &outputs->probabilities;
  if (name == "labels") return &outputs->labels;
  if (name == "confidence") return &outputs->confidence;
  if (name == "entropy") return &outputs->entropy;
  if (name == "temperature") return &outputs->temperature;
  Throw(ErrorCode::kInvalidArgument,
        "no output \"{}\"; there are probabilities, labels, confidence, entropy, temperature",
        name);
}

}  // namespace

Case MakeCase(std::span<const segcal_input> inputs) {
  Case entry{.id = "array"};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = NameOf(inputs[i], "input", i);
    const auto view = MakeArray<ArrayView>(inputs[i], fmt::format("input {} ({})", i, name));
    if (name == "member") {
      entry.members.emplace_back(view);
    } else if (name == "mask") {
      Fill(name, entry.mask.empty(), &entry.mask, ArraySource(view));
    } else if (name == "image") {
      Fill(name, entry.image.empty(), &entry.image, ArraySource(view));
    } else {
      Throw(ErrorCode::kInvalidArgument, "no input \"{}\"; there are member, mask, image", name);
    }
  }
  if (entry.members.empty())
    Throw(ErrorCode::kInvalidArgument, "no input \"member\"; at least one is required");
  return entry;
}

ApplyOutputs MakeOutputs(std::span<const segcal_output> outputs) {
  ApplyOutputs result;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = NameOf(outputs[i], "output", i);
    ArraySpan* span = FindSpan(name, &result);
    Fill(name,
         span->data == nullptr,
         span,
         MakeArray<ArraySpan>(outputs[i], fmt::format("output {} ({})", i, name)));
  }
  return result;
}

}  // namespace segcal
