// SPDX-License-Identifier: Apache-2.0
#include "formats/strided.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace segcal {
namespace {

// Calls visit(offset, done, run) for stretches of the last axis: `run` elements that begin `offset`
// elements into the array, after `done` others.
template <class Visit>
void ForEachRun(const StridedElements& layout, int64_t first, int64_t count, const Visit& visit) {
  const size_t last = layout.shape.size() - 1;
  std::vector<int64_t> index(layout.shape.size());
  for (size_t axis = layout.shape.size(); axis-- > 0;) {
    index[axis] = first % layout.shape[axis];
    first /= layout.shape[axis];
  }
  for (int64_t done = 0; done < count;) {
    int64_t offset = 0;
    for (size_t axis = 0; axis <= last; ++axis) offset += index[axis] * layout.strides[axis];
    const int64_t run = std::min(layout.shape[last] - index[last], count - done);
    visit(offset, done, run);
    done += run;
    index[last] = 0;
    for (size_t axis = last; axis-- > 0;) {
      if (++index[axis] < layout.shape[axis]) break;
      index[axis] = 0;
    }
  }
}

// memcpy of a constant size is one instruction; strided element by element otherwise.
template <size_t kSize>
void CopyRun(
    const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride, int64_t count) {
  constexpr auto kStep = static_cast<int64_t>(kSize);
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * to_stride * kStep, from + i * from_stride * kStep, kSize);
}

using RunCopier = decltype(&CopyRun<1>);

RunCopier FindCopier(int64_t element_size) {
  switch (element_size) {
    case 1:
      return &CopyRun<1>;
    case 2:
      return &CopyRun<2>;
    case 4:
      return &CopyRun<4>;
    default:
      return &CopyRun<8>;
  }
}

}  // namespace

std::vector<int64_t> RowMajorStrides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    // A shape that is too large wraps around, and is refused where it is checked.
    stride =
        static_cast<int64_t>(static_cast<uint64_t>(stride) * static_cast<uint64_t>(shape[axis]));
  }
  return strides;
}

void GatherElements(const StridedElements& layout,
                    const std::byte* data,
                    int64_t first,
                    int64_t count,
                    std::byte* out) {
  const RunCopier copy = FindCopier(layout.element_size);
  ForEachRun(layout, first, count, [&](int64_t offset, int64_t done, int64_t run) {
    copy(data + offset * layout.element_size,
         layout.strides.back(),
         out + done * layout.element_size,
         1,
         run);
  });
}

void ScatterElements(const StridedElements& layout,
                     const std::byte* in,
                     int64_t first,
                     int64_t count,
                     std::byte* data) {
  const RunCopier copy = FindCopier(layout.element_size);
  ForEachRun(layout, first, count, [&](int64_t offset, int64_t done, int64_t run) {
    copy(in + done * layout.element_size,
         1,
         data + offset * layout.element_size,
         layout.strides.back(),
         run);
  });
}

ByteRange CoveredBytes(const StridedElements& layout) {
  ByteRange range{.begin = 0, .end = layout.element_size};
  for (size_t axis = 0; axis < layout.shape.size(); ++axis) {
    const int64_t reach = (layout.shape[axis] - 1) * layout.strides[axis] * layout.element_size;
    (reach < 0 ? range.begin : range.end) += reach;
  }
  return range;
}

bool ElementsAreApart(const StridedElements& layout) {
  std::vector<std::pair<int64_t, int64_t>> axes;  // stride, extent
  for (size_t axis = 0; axis < layout.shape.size(); ++axis) {
    if (layout.shape[axis] > 1)
      axes.emplace_back(std::abs(layout.strides[axis]), layout.shape[axis]);
  }
  std::sort(axes.begin(), axes.end());
  int64_t covered = 1;  // elements that the narrower axes reach over
  for (const auto& [stride, extent] : axes) {
    if (stride < covered) return false;
    covered += (extent - 1) * stride;
  }
  return true;
}

SingleStride CollapseAxes(const std::vector<int64_t>& shape,
                          const std::vector<int64_t>& strides,
                          size_t axis) {
  SingleStride single{.exists = true};
  int64_t walked = 0;  // elements of the axes behind, once one of them has more than one
  for (size_t a = shape.size(); a-- > axis;) {
    if (shape[a] == 1) continue;
    if (walked == 0) {
      single.stride = strides[a];
      walked = shape[a];
    } else if (strides[a] == single.stride * walked) {
      walked *= shape[a];
    } else {
      return {};
    }
  }
  return single;
}

}  // namespace segcal
