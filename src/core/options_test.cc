// SPDX-License-Identifier: Apache-2.0
#include "core/options.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace segcal {
namespace {

using testing::ExpectError;

struct Sample {
  double rate = 0.5;
  int64_t bins = 15;
  bool fast = false;
  std::string rule = "up";
  std::string note = "none";

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("rate", self.rate, Positive());
    field("bins", self.bins, Between(1, 100));
    field("fast", self.fast, Any());
    field("rule", self.rule, OneOf({"up", "down"}));
    field("note", self.note, Any());
  }
};

void ExpectRefusedOptions(const OptionMap& given, const std::vector<std::string>& parts) {
  ExpectError(ErrorCode::kInvalidArgument, parts, [&] { ParseOptions<Sample>("sample", given); });
}

TEST(ParseOptions, LeavesDefaultsWhereNothingIsGiven) {
  const Sample sample = ParseOptions<Sample>("sample", {});
  EXPECT_EQ(sample.rate, 0.5);
  EXPECT_EQ(sample.bins, 15);
  EXPECT_FALSE(sample.fast);
  EXPECT_EQ(sample.rule, "up");
}

TEST(ParseOptions, ReadsEveryType) {
  const Sample sample = ParseOptions<Sample>(
      "sample",
      {{"rate", "1e-4"}, {"bins", "100"}, {"fast", "true"}, {"rule", "down"}, {"note", "a=b"}});
  EXPECT_EQ(sample.rate, 1e-4);
  EXPECT_EQ(sample.bins, 100);
  EXPECT_TRUE(sample.fast);
  EXPECT_EQ(sample.rule, "down");
  EXPECT_EQ(sample.note, "a=b");
}

TEST(ParseOptions, NamesMethodOptionValueAndRequirement) {
  ExpectRefusedOptions({{"rate", "0"}}, {"sample: rate", "0", "more than 0"});
  ExpectRefusedOptions({{"rate", "-1"}}, {"sample: rate", "-1", "more than 0"});
  ExpectRefusedOptions({{"bins", "0"}}, {"sample: bins", "at least 1"});
  ExpectRefusedOptions({{"bins", "101"}}, {"sample: bins", "101", "at most 100"});
  ExpectRefusedOptions({{"rule", "left"}}, {"sample: rule", "\"left\"", "up, down"});
  ExpectRefusedOptions({{"fast", "yes"}}, {"sample: fast", "\"yes\"", "true or false"});
}

TEST(ParseOptions, RefusesTextThatIsNotWhollyANumber) {
  for (const char* text : {"", " 1", "1 ", "1x", "+1", "0x10", "one", "1,5", "nan", "inf"}) {
    ExpectRefusedOptions({{"rate", text}}, {"sample: rate", "a number"});
  }
  for (const char* text : {"", "1.5", "1e2", "99999999999999999999", "1-"}) {
    ExpectRefusedOptions({{"bins", text}}, {"sample: bins", "a whole number"});
  }
}

TEST(ParseOptions, ListsTheKnownOptionsWhenOneIsUnknown) {
  ExpectRefusedOptions({{"Rate", "1"}},
                       {"sample: unknown option \"Rate\"", "rate, bins, fast, rule, note"});
  ExpectError(ErrorCode::kInvalidArgument, {"none", "\"x\"", "it has none"}, [] {
    ParseOptions<NoOptions>("none", {{"x", "1"}});
  });
}

TEST(DefaultOptions, ReadBackAsTheDefaults) {
  const OptionMap defaults = DefaultOptions<Sample>();
  EXPECT_EQ(defaults.at("rate"), "0.5");
  EXPECT_EQ(defaults.at("bins"), "15");
  EXPECT_EQ(defaults.at("fast"), "false");
  EXPECT_EQ(ParseOptions<Sample>("sample", defaults).rate, Sample{}.rate);
}

}  // namespace
}  // namespace segcal
