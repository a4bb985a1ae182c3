// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "core/rng.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;

void ExpectRefusedText(const std::string& text, const std::string& part) {
  ExpectError(ErrorCode::kBadData, {"x.json", part}, [&] { ParseJson(text, "x.json"); });
}

std::string Nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ParseJson, RefusesWhatIsNotStrictJson) {
  for (const char* text : {"",
                           "{",
                           "[1,]",
                           "{\"a\": 1,}",
                           "// note\n1",
                           "[1] 2",
                           "NaN",
                           "{'a': 1}",
                           "[01]",
                           "\"\xff\"",
                           "1e999"}) {
    SCOPED_TRACE(text);
    ExpectRefusedText(text, "not valid JSON");
  }
}

TEST(ParseJson, RefusesAFieldGivenTwiceInOneObject) {
  ExpectRefusedText(R"({"a": 1, "b": {"c": 1, "c": 2}})", "\"c\" appears twice");
  ExpectRefusedText(R"([{"a": 1}, {"b": 1, "a": {}, "a": 2}])", "\"a\" appears twice");
  EXPECT_EQ(ParseJson(R"([{"a": 1}, {"a": {"a": 2}}])", "x.json").size(), 2u);
}

TEST(ParseJson, RefusesMoreThan64Levels) {
  EXPECT_NO_THROW(ParseJson(Nested(64), "x.json"));
  ExpectRefusedText(Nested(66), "64 levels");
  ExpectRefusedText(Nested(1000000), "64 levels");
  ExpectRefusedText(std::string(1000000, '['), "64 levels");
  std::string objects;
  for (int i = 0; i < 100; ++i) objects += "{\"a\":";
  ExpectRefusedText(objects, "64 levels");
}

TEST(ReadJson, NamesTheFile) {
  const testing::TempFolder folder;
  const std::string path = folder.Put("broken.json", "{\"a\": ");
  ExpectError(ErrorCode::kBadData, {path, "not valid JSON"}, [&] { ReadJson(path); });
  ExpectError(
      ErrorCode::kIo, {folder.File("absent.json")}, [&] { ReadJson(folder.File("absent.json")); });
}

TEST(DumpJson, WritesOneCanonicalLayout) {
  const Json json = {{"name", "a \"b\"\n"},
                     {"none", nullptr},
                     {"flat", {1, 2.5, true, "x"}},
                     {"empty", Json::array()},
                     {"nothing", Json::object()},
                     {"cases", Json::array({{{"id", "0"}, {"row", {0.1, 1e300}}}})}};
  EXPECT_EQ(DumpJson(json),
            "{\n"
            "  \"name\": \"a \\\"b\\\"\\n\",\n"
            "  \"none\": null,\n"
            "  \"flat\": [1, 2.5, true, \"x\"],\n"
            "  \"empty\": [],\n"
            "  \"nothing\": {},\n"
            "  \"cases\": [\n"
            "    {\n"
            "      \"id\": \"0\",\n"
            "      \"row\": [0.1, 1e+300]\n"
            "    }\n"
            "  ]\n"
            "}\n");
}

TEST(DumpJson, WritesTheSameTextAfterReadingItBack) {
  const Json json = {{"a", {1.0, -0.0, 1e22, 0.1}}, {"b", {{"c", "\u00e9\t"}}}, {"d", -5}};
  const std::string text = DumpJson(json);
  EXPECT_EQ(DumpJson(ParseJson(text, "x.json")), text);
}

double ReadBack(double value) { return ParseJson(DumpJson(Json(value)), "x.json").get<double>(); }

TEST(DumpJson, DoublesReadBackToTheSameBits) {
  std::vector<double> values = {0.0,
                                -0.0,
                                0.1,
                                1.0,
                                -1.0,
                                0x1p53 + 2,
                                0x1p60,
                                0x1p63,
                                0x1p64,
                                1e20,
                                123456789012345680000.0,
                                1e21,
                                -1e19,
                                std::numeric_limits<double>::max(),
                                std::numeric_limits<double>::min(),
                                std::numeric_limits<double>::denorm_min()};
  Rng rng(/*seed=*/1, /*stream=*/0);
  while (values.size() < 20000) {
    const auto any = std::bit_cast<double>(rng.Next());
    if (std::isfinite(any)) values.push_back(any);
    values.push_back(std::ldexp(rng.Normal(), static_cast<int>(rng.Below(80)) - 10));
    values.push_back(std::trunc(values.back()));
  }
  for (const double value : values) {
    ASSERT_EQ(std::bit_cast<uint64_t>(ReadBack(value)), std::bit_cast<uint64_t>(value))
        << DumpJson(Json(value));
  }
}

TEST(DumpJson, UsesTheShortestDecimal) {
  EXPECT_EQ(DumpJson(Json(0.1)), "0.1\n");
  EXPECT_EQ(DumpJson(Json(1.0 / 3.0)), "0.3333333333333333\n");
  EXPECT_EQ(DumpJson(Json(5e-324)), "5e-324\n");
}

TEST(DumpJson, WritesNumbersThatAreNotFiniteAsNull) {
  EXPECT_EQ(DumpJson(Json(std::nan(""))), "null\n");
  EXPECT_EQ(DumpJson(Json(HUGE_VAL)), "null\n");
}

TEST(JsonNumber, ReadsBackWhateverItIs) {
  EXPECT_EQ(DumpJson(JsonNumbers(std::vector<double>{2.5, std::nan(""), HUGE_VAL, -HUGE_VAL})),
            "[2.5, null, \"inf\", \"-inf\"]\n");
  const double values[] = {2.5, HUGE_VAL, -HUGE_VAL, -0.0, 5e-324, 1.0 / 3.0};
  const Json json = {{"all", JsonNumbers(values)}, {"none", JsonNumber(std::nan(""))}};
  const Json text = ParseJson(DumpJson(json), "text");
  JsonObject object(text, "text");
  const std::vector<double> read = object.AnyNumbers("all");
  ASSERT_EQ(read.size(), std::size(values));
  for (size_t i = 0; i < read.size(); ++i)
    EXPECT_EQ(std::bit_cast<uint64_t>(read[i]), std::bit_cast<uint64_t>(values[i]));
  EXPECT_TRUE(std::isnan(object.AnyNumber("none")));
}

TEST(JsonNumber, IsNoOtherText) {
  for (const char* value : {"\"infinity\"", "\"1\"", "true", "[]"}) {
    const Json json = ParseJson(std::string("{\"x\": ") + value + "}", "text");
    ExpectError(ErrorCode::kBadData, {"text: \"x\" is", "a number"}, [&] {
      JsonObject(json, "text").AnyNumber("x");
    });
  }
}

TEST(JsonObject, KeepsWholeNumbersOf64Bits) {
  const Json json =
      ParseJson(R"({"u": 18446744073709551615, "i": [-1, 9223372036854775807]})", "t");
  JsonObject object(json, "t");
  EXPECT_EQ(object.Unsigned("u"), UINT64_MAX);
  EXPECT_EQ(object.Integers("i"), (std::vector<int64_t>{-1, INT64_MAX}));
  ExpectError(ErrorCode::kBadData, {"below 2^63"}, [&] { object.Integer("u"); });
  ExpectError(ErrorCode::kBadData, {"\"i\""}, [&] { object.Unsigned("i"); });
  const Json negative = {{"u", -1}};
  ExpectError(ErrorCode::kBadData, {"from 0"}, [&] { JsonObject(negative, "t").Unsigned("u"); });
}

TEST(DumpJson, ReplacesInvalidTextInsteadOfFailing) {
  EXPECT_NO_THROW(DumpJson(Json("\xff\xfe")));
  EXPECT_NO_THROW(DumpJson(Json{{"key \xff", 1}}));
}

TEST(JsonObject, ReadsEveryType) {
  const Json json = ParseJson(
      R"({"s": "x", "i": -3, "d": 2.5, "b": true, "ss": ["a", "b"], "ds": [1, 2.5], "o": {},
          "n": null})",
      "x.json");
  JsonObject object(json, "x.json");
  EXPECT_EQ(object.String("s"), "x");
  EXPECT_EQ(object.StringOr("n", "other"), "other");
  EXPECT_EQ(object.StringOr("absent", "other"), "other");
  EXPECT_EQ(object.Integer("i"), -3);
  EXPECT_EQ(object.OptionalInteger("n"), std::nullopt);
  EXPECT_EQ(object.OptionalInteger("i"), -3);
  EXPECT_EQ(object.Number("d"), 2.5);
  EXPECT_EQ(object.Number("i"), -3.0);
  EXPECT_TRUE(object.Bool("b"));
  EXPECT_EQ(object.Strings("ss"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(object.Numbers("ds"), (std::vector<double>{1.0, 2.5}));
  EXPECT_EQ(object.Numbers("ds", 2), (std::vector<double>{1.0, 2.5}));
  EXPECT_TRUE(object.Object("o").empty());
  EXPECT_TRUE(object.Any("n").is_null());
  EXPECT_FALSE(object.Has("n"));
  EXPECT_NO_THROW(object.Finish());
}

TEST(JsonObject, NamesTheFieldItsValueAndWhatIsRequired) {
  const Json json = ParseJson(
      R"({"s": 1, "i": 1.5, "big": 18446744073709551615, "d": "x", "b": 0, "a": {}, "ss": ["a", 2],
          "ds": [true], "three": [1, 2, 3], "n": null})",
      "x.json");
  JsonObject object(json, "x.json: cases[3]");
  const auto refused = [&](const std::vector<std::string>& parts,
                           const std::function<void()>& action) {
    std::vector<std::string> all = {"x.json: cases[3]"};
    all.insert(all.end(), parts.begin(), parts.end());
    ExpectError(ErrorCode::kBadData, all, action);
  };
  refused({"\"s\" is 1", "a string"}, [&] { object.String("s"); });
  refused({"\"i\" is 1.5", "a whole number"}, [&] { object.Integer("i"); });
  refused({"\"big\"", "below 2^63"}, [&] { object.Integer("big"); });
  refused({"\"d\" is \"x\"", "a number"}, [&] { object.Number("d"); });
  refused({"\"b\" is 0", "true or false"}, [&] { object.Bool("b"); });
  refused({"\"a\" is {}", "an array"}, [&] { object.Array("a"); });
  refused({"\"s\" is 1", "an object"}, [&] { object.Object("s"); });
  refused({"\"ss\"", "an array of strings"}, [&] { object.Strings("ss"); });
  refused({"\"ds\"", "an array of numbers"}, [&] { object.Numbers("ds"); });
  refused({"three has 3 numbers, 4 are required"}, [&] { object.Numbers("three", 4); });
  refused({"\"n\" is null", "a string"}, [&] { object.String("n"); });
  refused({"\"absent\" is missing"}, [&] { object.Number("absent"); });
}

TEST(JsonObject, RefusesFieldsNobodyRead) {
  const Json json = ParseJson(R"({"known": 1, "knwon": 2})", "x.json");
  JsonObject object(json, "x.json");
  object.Integer("known");
  ExpectError(ErrorCode::kBadData, {"x.json", "unknown field \"knwon\""}, [&] { object.Finish(); });
}

TEST(JsonObject, RefusesWhatIsNotAnObject) {
  const Json json = ParseJson("[1, 2]", "x.json");
  ExpectError(
      ErrorCode::kBadData, {"x.json", "[1,2]", "an object"}, [&] { JsonObject(json, "x.json"); });
}

}  // namespace
}  // namespace segcal
