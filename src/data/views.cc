// SPDX-License-Identifier: Apache-2.0
#include "segcal/views.h"

#include <algorithm>
#include <utility>

#include "formats/strided.h"

namespace segcal {
namespace {

template <class View>
View MoveLastAxisFirst(View view) {
  if (view.shape.empty()) return view;
  if (view.strides.empty()) view.strides = RowMajorStrides(view.shape);
  std::rotate(view.shape.begin(), view.shape.end() - 1, view.shape.end());
  std::rotate(view.strides.begin(), view.strides.end() - 1, view.strides.end());
  return view;
}

template <class View>
std::vector<ArrayView> Scores(const std::vector<View>& members) {
  std::vector<ArrayView> scores;
  scores.reserve(members.size());
  for (const View& member : members) scores.push_back(member.scores);
  return scores;
}

}  // namespace

ArrayView MakeView(const float* data, std::vector<int64_t> shape) {
  return {.data = data, .dtype = DType::kF32, .shape = std::move(shape)};
}
ArrayView MakeView(const double* data, std::vector<int64_t> shape) {
  return {.data = data, .dtype = DType::kF64, .shape = std::move(shape)};
}
ArrayView MakeView(const uint8_t* data, std::vector<int64_t> shape) {
  return {.data = data, .dtype = DType::kU8, .shape = std::move(shape)};
}
ArrayView MakeView(const int8_t* data, std::vector<int64_t> shape) {
  return {.data = data, .dtype = DType::kI8, .shape = std::move(shape)};
}
ArrayView MakeView(const uint16_t* data, std::vector<int64_t> shape) {
  return {.data = data, .dtype = DType::kU16, .shape = std::move(shape)};
}
ArrayView MakeView(const int16_t* data, std::vector<int64_t> shape) {
  return {.data = data, .dtype = DType::kI16, .shape = std::move(shape)};
}
ArrayView MakeView(const uint32_t* data, std::vector<int64_t> shape) {
  return {.data = data, .dtype = DType::kU32, .shape = std::move(shape)};
}
ArrayView MakeView(const int32_t* data, std::vector<int64_t> shape) {
  return {.data = data, .dtype = DType::kI32, .shape = std::move(shape)};
}
ArrayView MakeView(const uint64_t* data, std::vector<int64_t> shape) {
  return {.data = data, .dtype = DType::kU64, .shape = std::move(shape)};
}
ArrayView MakeView(const int64_t* data, std::vector<int64_t> shape) {
  return {.data = data, .dtype = DType::kI64, .shape = std::move(shape)};
}
ArrayView MakeView(const bool* data, std::vector<int64_t> shape) {
  return {.data = data, .dtype = DType::kBool, .shape = std::move(shape)};
}

ArraySpan MakeSpan(float* data, std::vector<int64_t> shape) {
  return {.data = data, .dtype = DType::kF32, .shape = std::move(shape)};
}
ArraySpan MakeSpan(uint8_t* data, std::vector<int64_t> shape) {
  return {.data = data, .dtype = DType::kU8, .shape = std::move(shape)};
}
ArraySpan MakeSpan(uint16_t* data, std::vector<int64_t> shape) {
  return {.data = data, .dtype = DType::kU16, .shape = std::move(shape)};
}
ArraySpan MakeSpan(int32_t* data, std::vector<int64_t> shape) {
  return {.data = data, .dtype = DType::kI32, .shape = std::move(shape)};
}

ArrayView ChannelsFirst(ArrayView channels_last) {
  return MoveLastAxisFirst(std::move(channels_last));
}
ArraySpan ChannelsFirst(ArraySpan channels_last) {
  return MoveLastAxisFirst(std::move(channels_last));
}

MembersView::MembersView(const LogitsView& single)
    : kind_(InputKind::kLogits), members_{single.scores} {}
MembersView::MembersView(const LogProbsView& single)
    : kind_(InputKind::kLogProbs), members_{single.scores} {}
MembersView::MembersView(const ProbsView& single)
    : kind_(InputKind::kProbs), members_{single.scores} {}
MembersView::MembersView(const std::vector<LogitsView>& members)
    : kind_(InputKind::kLogits), members_(Scores(members)) {}
MembersView::MembersView(const std::vector<LogProbsView>& members)
    : kind_(InputKind::kLogProbs), members_(Scores(members)) {}
MembersView::MembersView(const std::vector<ProbsView>& members)
    : kind_(InputKind::kProbs), members_(Scores(members)) {}

}  // namespace segcal
