// SPDX-License-Identifier: Apache-2.0
#include "formats/element.h"

#include <gtest/gtest.h>

#include <limits>

namespace segcal {
namespace {

constexpr DType kAll[] = {DType::kF16,
                          DType::kF32,
                          DType::kF64,
                          DType::kU8,
                          DType::kI8,
                          DType::kU16,
                          DType::kI16,
                          DType::kU32,
                          DType::kI32,
                          DType::kU64,
                          DType::kI64};

double RoundTrip(DType dtype, double value) {
  std::byte bytes[8];
  StoreElement(dtype, value, bytes);
  return LoadElement(dtype, bytes);
}

TEST(Element, SmallWholeNumbersComeBackInEveryType) {
  for (const DType dtype : kAll) {
    for (const double value : {0.0, 1.0, 100.0}) EXPECT_EQ(RoundTrip(dtype, value), value);
  }
}

TEST(Element, WholeNumbersAreRoundedToTheNearest) {
  for (const DType dtype : kAll) {
    if (IsFloat(dtype)) continue;
    EXPECT_EQ(RoundTrip(dtype, 3.49), 3.0) << Name(dtype);
    EXPECT_EQ(RoundTrip(dtype, 3.5), 4.0) << Name(dtype);
  }
}

TEST(Element, WhatDoesNotFitBecomesTheEndOfTheType) {
  EXPECT_EQ(RoundTrip(DType::kU8, 255.6), 255.0);
  EXPECT_EQ(RoundTrip(DType::kU8, -1.0), 0.0);
  EXPECT_EQ(RoundTrip(DType::kI16, -1e6), -32768.0);
  EXPECT_EQ(RoundTrip(DType::kI64, 1e30), static_cast<double>(std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(RoundTrip(DType::kU64, 1e30),
            static_cast<double>(std::numeric_limits<uint64_t>::max()));
}

TEST(Element, FloatsKeepTheirPrecision) {
  EXPECT_EQ(RoundTrip(DType::kF64, 0.1), 0.1);
  EXPECT_EQ(RoundTrip(DType::kF32, 0.1), static_cast<double>(0.1f));
  EXPECT_EQ(RoundTrip(DType::kF16, 0.1), 0.0999755859375);  // 1638 / 2^14
}

TEST(Element, BoolIsOneFromAHalfOn) {
  EXPECT_EQ(RoundTrip(DType::kBool, 0.5), 1.0);
  EXPECT_EQ(RoundTrip(DType::kBool, 0.49), 0.0);
}

}  // namespace
}  // namespace segcal
