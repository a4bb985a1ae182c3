// SPDX-License-Identifier: Apache-2.0
#include "core/text_hash.h"

#include <gtest/gtest.h>

namespace segcal {
namespace {

// Values that the authors of the hash publish.
TEST(TextHash, AgreesWithKnownVectors) {
  EXPECT_EQ(HashText(""), 0xCBF29CE484222325u);
  EXPECT_EQ(HashText("a"), 0xAF63DC4C8601EC8Cu);
  EXPECT_EQ(HashText("foobar"), 0x85944171F73967E8u);
}

}  // namespace
}  // namespace segcal
