// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include "formats/storage.h"

namespace segcal {
namespace {

using Axes = std::vector<int64_t>;

// Elements moved at once; two buffers of this many. With it a run read or written of a large array
// has about a thousand elements, so that the number of system calls does not matter.
constexpr int64_t kBoxElements = int64_t{1} << 20;

Axes Reversed(const Axes& axes) { return Axes(axes.rbegin(), axes.rend()); }

int64_t Product(const Axes& axes) {
  int64_t product = 1;
  for (const int64_t length : axes) product *= length;
  return product;
}

// Extent of the boxes in which an array of `shape` is moved. Leading axes are contiguous in the
// source, trailing ones in the result: the box grows from both ends, always where the run is still
// shorter.
Axes ChooseBox(const Axes& shape) {
  Axes box(shape.size(), 1);
  size_t front = 0;
  size_t back = shape.size();  // one past the axis that grows
  int64_t volume = 1;
  int64_t front_run = 1;
  int64_t back_run = 1;
  while (front < back) {
    const bool at_front = front_run <= back_run;
    const size_t axis = at_front ? front : back - 1;
    if (box[axis] == shape[axis]) {
      at_front ? ++front : --back;
      continue;
    }
    const int64_t wider = std::min(shape[axis], 2 * box[axis]);
    if (volume / box[axis] * wider > kBoxElements) break;
    volume = volume / box[axis] * wider;
    int64_t& run = at_front ? front_run : back_run;
    run = run / box[axis] * wider;
    box[axis] = wider;
  }
  return box;
}

// Steps a multi-index through `extent`, last axis fastest; false after the last one.
bool Next(Axes* index, const Axes& extent, size_t num_axes) {
  for (size_t axis = num_axes; axis-- > 0;) {
    if (++(*index)[axis] < extent[axis]) return true;
    (*index)[axis] = 0;
  }
  return false;
}

int64_t Linear(const Axes& shape, const Axes& origin, const Axes& index) {
  int64_t linear = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    linear = linear * shape[axis] + origin[axis] + index[axis];
  }
  return linear;
}

// Calls run(first, box_first, count) for each piece of a box that is contiguous in a C-order array.
template <class Run>
void ForEachRun(const Axes& shape, const Axes& origin, const Axes& extent, Run run) {
  size_t outer = shape.size() - 1;
  int64_t count = extent[outer];
  while (outer > 0 && extent[outer] == shape[outer]) count *= extent[--outer];
  Axes index(shape.size(), 0);
  int64_t box_first = 0;
  do {
    run(Linear(shape, origin, index), box_first, count);
    box_first += count;
  } while (Next(&index, extent, outer));
}

// out, C order with `extent`, from `in`, C order with the reversed extent.
template <class T>
void ReverseBox(const Axes& extent, const std::byte* in_bytes, std::byte* out_bytes) {
  const auto* in = reinterpret_cast<const T*>(in_bytes);
  auto* out = reinterpret_cast<T*>(out_bytes);
  const size_t last = extent.size() - 1;
  const int64_t stride = Product(extent) / extent[last];
  Axes index(extent.size(), 0);
  do {
    int64_t from = 0;
    for (size_t axis = last; axis-- > 0;) from = from * extent[axis] + index[axis];
    for (int64_t i = 0; i < extent[last]; ++i) *out++ = in[from + i * stride];
  } while (Next(&index, extent, last));
}

void ReverseBox(int64_t element, const Axes& extent, const std::byte* in, std::byte* out) {
  switch (element) {
    case 1:
      return ReverseBox<uint8_t>(extent, in, out);
    case 2:
      return ReverseBox<uint16_t>(extent, in, out);
    case 4:
      return ReverseBox<uint32_t>(extent, in, out);
    default:
      return ReverseBox<uint64_t>(extent, in, out);
  }
}

class Transposer {
 public:
  Transposer(const Array& source, const OpenOptions& options)
      : source_(source),
        shape_(Reversed(source.info().shape)),
        box_(ChooseBox(shape_)),
        element_(ElementSize(source.info().dtype)),
        read_(static_cast<size_t>(Product(box_) * element_)),
        written_(read_.size()),
        result_(source.name(), options) {
    result_.Resize(Product(shape_) * element_);
  }

  std::unique_ptr<Array> Run() {
    Axes num_boxes;
    for (size_t axis = 0; axis < shape_.size(); ++axis) {
      num_boxes.push_back((shape_[axis] + box_[axis] - 1) / box_[axis]);
    }
    Axes index(shape_.size(), 0);
    do {
      MoveBox(index);
    } while (Next(&index, num_boxes, num_boxes.size()));
    ArrayInfo info = source_.info();
    info.shape = shape_;
    return result_.TakeArray(std::move(info), /*swap=*/false);
  }

 private:
  void MoveBox(const Axes& index) {
    Axes origin;
    Axes extent;
    for (size_t axis = 0; axis < shape_.size(); ++axis) {
      origin.push_back(index[axis] * box_[axis]);
      extent.push_back(std::min(box_[axis], shape_[axis] - origin[axis]));
    }
    ForEachRun(source_.info().shape,
               Reversed(origin),
               Reversed(extent),
               [&](int64_t first, int64_t box_first, int64_t count) {
                 source_.Read(first, count, read_.data() + box_first * element_);
               });
    ReverseBox(element_, extent, read_.data(), written_.data());
    ForEachRun(shape_, origin, extent, [&](int64_t first, int64_t box_first, int64_t count) {
      const std::span all(written_);
      result_.WriteAt(first * element_,
                      all.subspan(static_cast<size_t>(box_first * element_),
                                  static_cast<size_t>(count * element_)));
    });
  }

  const Array& source_;
  Axes shape_;
  Axes box_;
  int64_t element_;
  Bytes read_;
  Bytes written_;
  Spool result_;
};

}  // namespace

std::unique_ptr<Array> Transposed(std::unique_ptr<Array> source, const OpenOptions& options) {
  return Transposer(*source, options).Run();
}

}  // namespace segcal
