// SPDX-License-Identifier: Apache-2.0
#include "parts/state_file.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace segcal {
namespace {

using testing::ExpectError;

StateFile SomeState() {
  return {.text = {{"name", "Grüße"}, {"number", 0.1}},
          .bytes = {std::string("a\0b\n", 4), "", "segcal part 1"}};
}

TEST(StateFile, ReadsBackToTheSame) {
  const std::string written = WriteStateFile(SomeState());
  const StateFile read = ReadStateFile(written, "x");
  EXPECT_EQ(read.text, SomeState().text);
  EXPECT_EQ(read.bytes, SomeState().bytes);
  EXPECT_EQ(WriteStateFile(read), written);
}

TEST(StateFile, OfWhichAnyPartIsMissingIsRefused) {
  const std::string written = WriteStateFile(SomeState());
  for (size_t size = 0; size < written.size(); ++size)
    ExpectError(ErrorCode::kBadData, {"x: "}, [&] { ReadStateFile(written.substr(0, size), "x"); });
  ExpectError(ErrorCode::kBadData, {"cut short", "run that part again"}, [&] {
    ReadStateFile(written.substr(0, written.size() - 1), "x");
  });
  ExpectError(ErrorCode::kBadData, {"damaged"}, [&] { ReadStateFile(written + "x", "x"); });
}

TEST(StateFile, OfWhichAnyBitHasChangedIsRefused) {
  const std::string written = WriteStateFile(SomeState());
  for (size_t at = 0; at < written.size(); ++at) {
    for (const int bit : {0, 5}) {
      std::string damaged = written;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      // Hexadecimal digits mean the same in capitals.
      const bool same = std::isalpha(written[at]) && bit == 5 && at < written.find('\n') &&
                        at >= written.find('\n') - 16;
      if (same) continue;
      ExpectError(ErrorCode::kBadData, {"x: "}, [&] { ReadStateFile(damaged, "x"); });
    }
  }
}

TEST(StateFile, OfAnotherKindOrVersionIsNamed) {
  ExpectError(ErrorCode::kBadData, {"x: is not the state of a part"}, [] {
    ReadStateFile("{\"segcal_model\": 1}", "x");
  });
  ExpectError(ErrorCode::kBadData, {"x: starts with", "another format"}, [] {
    ReadStateFile("segcal part 2 0 0 0\n", "x");
  });
}

}  // namespace
}  // namespace segcal
