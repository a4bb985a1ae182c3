// SPDX-License-Identifier: Apache-2.0
#include "core/aligned.h"

#include <gtest/gtest.h>

#include <cstring>

namespace segcal {
namespace {

TEST(AlignedBuffer, StartsOnACacheLine) {
  for (const int64_t bytes : {1, 63, 64, 1000, 1 << 20}) {
    AlignedBuffer buffer;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.Reserve(bytes)) % 64, 0u) << bytes;
  }
}

TEST(AlignedBuffer, StartsOnAHugePageWhereItIsLarge) {
  constexpr int64_t kLarge = (int64_t{4} << 20) + 1;
  AlignedBuffer buffer;
  buffer.Reserve(100);
  std::byte* large = buffer.Reserve(kLarge);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large) % (size_t{2} << 20), 0u);
  std::memset(large, 7, kLarge);
  EXPECT_EQ(large[kLarge - 1], std::byte{7});
}

TEST(AlignedBuffer, KeepsItsContentsUntilItHasToGrow) {
  AlignedBuffer buffer;
  std::byte* first = buffer.Reserve(100);
  std::memset(first, 7, 100);
  EXPECT_EQ(buffer.Reserve(100), first);
  EXPECT_EQ(buffer.Reserve(1), first);
  EXPECT_EQ(buffer.Reserve(0), first);
  EXPECT_EQ(first[99], std::byte{7});
}

}  // namespace
}  // namespace segcal
