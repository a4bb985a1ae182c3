// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace segcal {

// Strides, in elements, of an array of this shape in C order.
std::vector<int64_t> RowMajorStrides(const std::vector<int64_t>& shape);

// How elements lie in memory that is not in C order.
struct StridedElements {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements
  int64_t element_size = 0;      // 1, 2, 4 or 8 bytes
};

// Elements [first, first + count), counted in C order of the shape: to `out`, and from `in`. The
// memory need not be aligned.
void GatherElements(const StridedElements& layout,
                    const std::byte* data,
                    int64_t first,
                    int64_t count,
                    std::byte* out);
void ScatterElements(const StridedElements& layout,
                     const std::byte* in,
                     int64_t first,
                     int64_t count,
                     std::byte* data);

// The lowest and one past the highest byte that elements of such an array take, relative to the
// first element's.
struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;
};
ByteRange CoveredBytes(const StridedElements& layout);

// Whether no two elements share a byte. Never true for an array that overlaps itself. True for
// every slice, transposition and reversal of an array in C order; false for some unusual arrays
// whose axes interleave without overlapping.
bool ElementsAreApart(const StridedElements& layout);

// Whether the axes from `axis` on can be walked with a single stride, and which.
struct SingleStride {
  bool exists = false;
  int64_t stride = 1;
};
SingleStride CollapseAxes(const std::vector<int64_t>& shape,
                          const std::vector<int64_t>& strides,
                          size_t axis);

}  // namespace segcal
