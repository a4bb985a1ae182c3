// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "formats/files_for_test.h"
#include "formats/storage.h"

namespace segcal {
namespace {

// Position in C order of the element that stands at `linear` in Fortran order.
int64_t FromFortran(const std::vector<int64_t>& shape, int64_t linear) {
  int64_t stride = 1;
  for (const int64_t length : shape) stride *= length;
  int64_t c_order = 0;
  for (const int64_t length : shape) {
    stride /= length;
    c_order += linear % length * stride;
    linear /= length;
  }
  return c_order;
}

template <class T>
void ExpectTransposed(const std::vector<int64_t>& shape, DType dtype, int64_t memory_limit) {
  const std::vector<int64_t> stored_shape(shape.rbegin(), shape.rend());
  const ArrayInfo info{.dtype = dtype, .shape = stored_shape, .spacing = {}};
  const std::vector<T> stored = Counting<T>(info.NumElements());
  std::vector<T> expected(stored.size());
  for (size_t i = 0; i < stored.size(); ++i) {
    expected[static_cast<size_t>(FromFortran(shape, static_cast<int64_t>(i)))] = stored[i];
  }
  OpenOptions options;
  options.memory_limit = memory_limit;
  const auto array = Transposed(ArrayOverMemory("a", info, stored.data()), options);
  EXPECT_EQ(array->info().shape, shape);
  EXPECT_TRUE(ReadAll<T>(*array) == expected);
}

TEST(Transposed, MatchesIndexArithmeticForEveryElementSize) {
  ExpectTransposed<uint8_t>({3, 5}, DType::kU8, 1000);
  ExpectTransposed<uint16_t>({4, 1, 5}, DType::kU16, 10);
  ExpectTransposed<uint32_t>({2, 3, 4, 5}, DType::kU32, 10);
  ExpectTransposed<uint64_t>({2, 3, 1, 2, 7}, DType::kU64, 1000);
}

// More than one box of 2^20 elements, with ragged ends along long, short and middle axes.
TEST(Transposed, MatchesIndexArithmeticAcrossBoxes) {
  ExpectTransposed<uint32_t>({1100, 1300}, DType::kU32, 1000);
  ExpectTransposed<uint32_t>({3, 700000}, DType::kU32, 1000);
  ExpectTransposed<uint32_t>({700001, 2}, DType::kU32, int64_t{1} << 30);
  ExpectTransposed<uint32_t>({5, 70, 61, 67}, DType::kU32, 1000);
}

}  // namespace
}  // namespace segcal
