// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "segcal/dtype.h"
#include "segcal/export.h"
#include "segcal/input_kind.h"

namespace segcal {

// An array in the caller's memory, which must stay as it is for as long as segcal uses it. Element
// (i, j, ...) lies at data[i * strides[0] + j * strides[1] + ...], strides in elements and of any
// sign; no strides: C order. Nothing is copied, except a block at a time where the strides need it.
struct ArrayView {
  const void* data = nullptr;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape = {};
  std::vector<int64_t> strides = {};

  bool operator==(const ArrayView&) const = default;
};

// The same to be written to. No two elements may share their memory.
struct ArraySpan {
  void* data = nullptr;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape = {};
  std::vector<int64_t> strides = {};
};

// An array in C order: MakeView(logits, {num_classes, height, width}).
SEGCAL_EXPORT ArrayView MakeView(const float* data, std::vector<int64_t> shape);
SEGCAL_EXPORT ArrayView MakeView(const double* data, std::vector<int64_t> shape);
SEGCAL_EXPORT ArrayView MakeView(const uint8_t* data, std::vector<int64_t> shape);
SEGCAL_EXPORT ArrayView MakeView(const int8_t* data, std::vector<int64_t> shape);
SEGCAL_EXPORT ArrayView MakeView(const uint16_t* data, std::vector<int64_t> shape);
SEGCAL_EXPORT ArrayView MakeView(const int16_t* data, std::vector<int64_t> shape);
SEGCAL_EXPORT ArrayView MakeView(const uint32_t* data, std::vector<int64_t> shape);
SEGCAL_EXPORT ArrayView MakeView(const int32_t* data, std::vector<int64_t> shape);
SEGCAL_EXPORT ArrayView MakeView(const uint64_t* data, std::vector<int64_t> shape);
SEGCAL_EXPORT ArrayView MakeView(const int64_t* data, std::vector<int64_t> shape);
SEGCAL_EXPORT ArrayView MakeView(const bool* data, std::vector<int64_t> shape);
SEGCAL_EXPORT ArraySpan MakeSpan(float* data, std::vector<int64_t> shape);
SEGCAL_EXPORT ArraySpan MakeSpan(uint8_t* data, std::vector<int64_t> shape);
SEGCAL_EXPORT ArraySpan MakeSpan(uint16_t* data, std::vector<int64_t> shape);
SEGCAL_EXPORT ArraySpan MakeSpan(int32_t* data, std::vector<int64_t> shape);

// A (H, W, C) array seen as (C, H, W): the last axis comes first.
SEGCAL_EXPORT ArrayView ChannelsFirst(ArrayView channels_last);
SEGCAL_EXPORT ArraySpan ChannelsFirst(ArraySpan channels_last);

// Three kinds of scores (C, spatial...) that look alike and mean different things; they do not
// convert into each other, so that passing one for another does not compile.
struct LogitsView {
  ArrayView scores;
};
struct LogProbsView {
  ArrayView scores;
};
struct ProbsView {
  ArrayView scores;
};

// The scores of all members of an ensemble for one image or volume, or of a single network.
class SEGCAL_EXPORT MembersView {
 public:
  MembersView(const LogitsView& single);
  MembersView(const LogProbsView& single);
  MembersView(const ProbsView& single);
  MembersView(const std::vector<LogitsView>& members);
  MembersView(const std::vector<LogProbsView>& members);
  MembersView(const std::vector<ProbsView>& members);

  InputKind kind() const noexcept { return kind_; }
  const std::vector<ArrayView>& members() const noexcept { return members_; }

 private:
  InputKind kind_;
  std::vector<ArrayView> members_;
};

// Where the results for one image or volume go; what has neither data nor shape is not computed.
struct ApplyOutputs {
  ArraySpan probabilities = {};  // (C, spatial...), float16 or float32
  ArraySpan labels = {};         // (spatial...), uint8, uint16 or int32: the class with the largest
  ArraySpan confidence = {};     // (spatial...), float16 or float32: the largest probability
  ArraySpan entropy = {};        // the same: of the probabilities, in nats
  ArraySpan temperature = {};    // the same: by which the calibrator divides, if it does
};

}  // namespace segcal
