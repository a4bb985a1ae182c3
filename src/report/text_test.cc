// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace segcal {
namespace {

TEST(DisplayWidth, CountsTerminalCells) {
  EXPECT_EQ(DisplayWidth(""), 0);
  EXPECT_EQ(DisplayWidth("NLL ↓"), 5);
  EXPECT_EQ(DisplayWidth("λ±–"), 3);
  EXPECT_EQ(DisplayWidth("道路"), 4);        // wide
  EXPECT_EQ(DisplayWidth("e\u0301"), 1);     // e with a combining accent
  EXPECT_EQ(DisplayWidth("\U0001F6B2"), 2);  // emoji
}

TEST(CleanText, KeepsValidUtf8) {
  const std::string text = "a é 道 \U0001F6B2 ~";
  EXPECT_EQ(CleanText(text), text);
}

TEST(CleanText, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(CleanText("a\xFF"), "a\uFFFD");
  EXPECT_EQ(CleanText("\xC0\xAF"), "\uFFFD\uFFFD");                      // overlong /
  EXPECT_EQ(CleanText("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");            // a surrogate
  EXPECT_EQ(CleanText("\xE2\x82"), "\uFFFD\uFFFD");                      // cut short
  EXPECT_EQ(CleanText("\xE2(x"), "\uFFFD(x");                            // resumes at the next byte
  EXPECT_EQ(CleanText("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // above U+10FFFF
}

TEST(CleanText, TurnsControlsIntoSpaces) {
  EXPECT_EQ(CleanText("a\x1b[31m\tb\n"), "a [31m b ");
  EXPECT_EQ(CleanText("a\u202Eb"), "a b");  // right-to-left override
  EXPECT_EQ(CleanText(std::string("\0x", 2)), " x");
}

TEST(FitPixels, KeepsTextThatFits) { EXPECT_EQ(FitPixels("short", 10.0, 100.0), "short"); }

TEST(FitPixels, CutsBetweenCharactersAndStaysInside) {
  const std::string text = "ééééééé a longer name with words";
  for (double width = 10.0; width < 200.0; width += 3.0) {
    const std::string fitted = FitPixels(text, 11.0, width);
    EXPECT_LE(TextPixels(fitted, 11.0), width);
    EXPECT_EQ(CleanText(fitted), fitted);
    EXPECT_EQ(fitted.substr(fitted.size() - 3), "…");
  }
}

TEST(FormatNumber, ShowsUndefinedAndInfinite) {
  EXPECT_EQ(FormatNumber(std::nan(""), 3), "–");
  EXPECT_EQ(FormatNumber(std::numeric_limits<double>::infinity(), 3), "∞");
  EXPECT_EQ(FormatNumber(-std::numeric_limits<double>::infinity(), 3), "-∞");
}

TEST(FormatNumber, RoundsWithoutMinusZero) {
  EXPECT_EQ(FormatNumber(0.12345, 4), "0.1235");
  EXPECT_EQ(FormatNumber(-0.00001, 3), "0.000");
  EXPECT_EQ(FormatNumber(-0.0, 0), "0");
  EXPECT_EQ(FormatNumber(-0.5, 1), "-0.5");
}

TEST(FormatShort, ShowsThreeDigits) {
  EXPECT_EQ(FormatShort(12.345), "12.3");
  EXPECT_EQ(FormatShort(-0.0), "0");
  EXPECT_EQ(FormatShort(std::nan("")), "–");
}

TEST(FormatCount, GroupsByThree) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(-123456), "-123,456");
  EXPECT_EQ(FormatCount(12345678901), "12,345,678,901");
}

}  // namespace
}  // namespace segcal
