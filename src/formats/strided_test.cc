// SPDX-License-Identifier: Apache-2.0
#include "formats/strided.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace segcal {
namespace {

using Extents = std::vector<int64_t>;

template <class T>
const std::byte* AsBytes(const std::vector<T>& values) {
  return reinterpret_cast<const std::byte*>(values.data());
}

// All elements of a 24-element buffer 0, 1, 2, ... seen through this shape and these strides.
template <class T>
std::vector<T> Gathered(const Extents& shape, const Extents& strides, size_t start = 0) {
  std::vector<T> buffer(24);
  std::iota(buffer.begin(), buffer.end(), T{0});
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  std::vector<T> out(static_cast<size_t>(count));
  GatherElements({.shape = shape, .strides = strides, .element_size = sizeof(T)},
                 AsBytes(buffer) + start * sizeof(T),
                 0,
                 count,
                 reinterpret_cast<std::byte*>(out.data()));
  return out;
}

TEST(RowMajorStrides, AreProductsOfTheAxesBehind) {
  EXPECT_EQ(RowMajorStrides({2, 3, 4}), (Extents{12, 4, 1}));
  EXPECT_EQ(RowMajorStrides({7}), (Extents{1}));
}

TEST(GatherElements, FollowsStridesOfEverySizeAndSign) {
  EXPECT_EQ(Gathered<int32_t>({2, 3}, {12, 4}), (std::vector<int32_t>{0, 4, 8, 12, 16, 20}));
  EXPECT_EQ(Gathered<uint8_t>({3, 2}, {1, 3}), (std::vector<uint8_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(Gathered<uint16_t>({2, 2}, {-6, -1}, 23), (std::vector<uint16_t>{23, 22, 17, 16}));
  EXPECT_EQ(Gathered<int64_t>({3, 2}, {0, 5}), (std::vector<int64_t>{0, 5, 0, 5, 0, 5}));
}

TEST(GatherElements, TakesAnyPartInCOrder) {
  std::vector<int32_t> buffer(60);
  std::iota(buffer.begin(), buffer.end(), 0);
  const StridedElements layout{.shape = {2, 3, 4}, .strides = {1, 20, 2}, .element_size = 4};
  std::vector<int32_t> whole(24);
  GatherElements(layout, AsBytes(buffer), 0, 24, reinterpret_cast<std::byte*>(whole.data()));
  for (int64_t first = 0; first < 24; ++first) {
    for (int64_t count = 0; first + count <= 24; ++count) {
      std::vector<int32_t> part(static_cast<size_t>(count));
      GatherElements(
          layout, AsBytes(buffer), first, count, reinterpret_cast<std::byte*>(part.data()));
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + first)) << first;
    }
  }
}

TEST(ScatterElements, IsTheInverseOfGathering) {
  const StridedElements layout{.shape = {2, 3, 4}, .strides = {1, -20, 2}, .element_size = 2};
  std::vector<uint16_t> values(24);
  std::iota(values.begin(), values.end(), uint16_t{100});
  std::vector<uint16_t> buffer(60, 7);
  auto* start = reinterpret_cast<std::byte*>(buffer.data() + 40);
  ScatterElements(layout, AsBytes(values), 0, 10, start);
  ScatterElements(layout, AsBytes(values) + 20, 10, 14, start);
  std::vector<uint16_t> read(24);
  GatherElements(layout, start, 0, 24, reinterpret_cast<std::byte*>(read.data()));
  EXPECT_EQ(read, values);
  EXPECT_EQ(std::count(buffer.begin(), buffer.end(), 7), 60 - 24);
}

TEST(CoveredBytes, ReachFromTheLowestToTheHighestElement) {
  const ByteRange range = CoveredBytes({.shape = {2, 3}, .strides = {-10, 4}, .element_size = 4});
  EXPECT_EQ(range.begin, -40);
  EXPECT_EQ(range.end, 36);
}

// Against marking every byte that an element takes.
TEST(ElementsAreApart, AgreesWithMarkingBytes) {
  const auto brute = [](const Extents& shape, const Extents& strides) {
    std::vector<int> marks(400, 0);
    for (int64_t i = 0; i < shape[0]; ++i) {
      for (int64_t j = 0; j < shape[1]; ++j)
        ++marks.at(static_cast<size_t>(200 + i * strides[0] + j * strides[1]));
    }
    return *std::max_element(marks.begin(), marks.end()) == 1;
  };
  for (const int64_t rows : {1, 2, 5}) {
    for (const int64_t columns : {1, 3, 4}) {
      for (int64_t a = -12; a <= 12; ++a) {
        for (int64_t b = -12; b <= 12; ++b) {
          const bool apart =
              ElementsAreApart({.shape = {rows, columns}, .strides = {a, b}, .element_size = 1});
          // Axes that interleave are taken for overlapping, never the other way round.
          if (apart) {
            EXPECT_TRUE(brute({rows, columns}, {a, b})) << rows << columns << a << " " << b;
          }
        }
      }
    }
  }
  EXPECT_TRUE(
      ElementsAreApart({.shape = {3, 33, 41}, .strides = {3000, -60, 1}, .element_size = 4}));
  EXPECT_TRUE(ElementsAreApart({.shape = {3, 33, 41}, .strides = {1, 123, 3}, .element_size = 4}));
  EXPECT_FALSE(ElementsAreApart({.shape = {3, 33}, .strides = {32, 1}, .element_size = 4}));
}

TEST(CollapseAxes, FindsTheOneStrideThatWalksAllAxes) {
  const auto stride = [](const Extents& shape, const Extents& strides, size_t axis) {
    const SingleStride single = CollapseAxes(shape, strides, axis);
    return single.exists ? single.stride : -999;
  };
  EXPECT_EQ(stride({3, 4, 5}, {20, 5, 1}, 1), 1);
  EXPECT_EQ(stride({3, 4, 5}, {20, 5, 1}, 0), 1);
  EXPECT_EQ(stride({3, 4, 5}, {1, 15, 3}, 1), 3);
  EXPECT_EQ(stride({3, 4, 5}, {1, 16, 3}, 1), -999);
  EXPECT_EQ(stride({3, 4, 5}, {60, -5, -1}, 1), -1);
  EXPECT_EQ(stride({3, 1, 5}, {60, 77, 2}, 1), 2);
  EXPECT_EQ(stride({3, 1, 1}, {60, 77, 78}, 1), 1);
}

}  // namespace
}  // namespace segcal
