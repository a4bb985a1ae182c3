// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/array.h"
#include "segcal/dataset.h"

namespace segcal {

// The labels of one case as class indices: label map applied, ignored voxels kNoLabel, everything
// else checked to be a class.
class LabelReader {
 public:
  // `array` must hold whole numbers with the spatial shape of the case.
  LabelReader(const Dataset& dataset, std::unique_ptr<Array> array);

  const Array& array() const noexcept { return *array_; }

  // Labels of voxels [first, first + out.size()).
  void Read(int64_t first, std::span<int32_t> out) const;

 private:
  bool ReadQuickly(int64_t first, std::span<int32_t> out) const;
  bool MapBytes(const std::byte* bytes, std::span<int32_t> out) const;
  template <class T>
  bool CompareValues(const std::byte* bytes, std::span<int32_t> out) const;
  int32_t FindClass(int64_t value, int64_t voxel) const;
  int32_t Lookup(int64_t value) const;

  std::unique_ptr<Array> array_;
  std::map<int64_t, int64_t> label_map_;
  std::optional<int64_t> ignore_label_;
  int64_t num_classes_;
  std::vector<int32_t>
      small_;  // class of values 0..255, or kUnknown: the usual case without a search
};

// Reads `count` elements as 64-bit integers, whatever the type; a fraction is an error naming
// `what`.
void ReadIntegers(const Array& array, int64_t first, std::span<int64_t> out, const char* what);

}  // namespace segcal
