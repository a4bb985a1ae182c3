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
