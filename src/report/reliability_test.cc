// SPDX-License-Identifier: Apache-2.0
#include "report/reliability.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "report/colors.h"
#include "report/reliability_bars.h"
#include "report/svg_reader_for_test.h"

namespace segcal {
namespace {

constexpr double kSide = 340.0;  // of the square plot, in pixels
// Coordinates have three decimals.
constexpr double kRounding = 0.002 / kSide;

// The nine predictions of the textbook example: conf {.78,.64,.92,.58,.51,.85,.70,.63,.83},
// correct {1,1,0,1,0,1,1,0,1}, five bins. Gaps {.045, .0625, .2}, ECE 0.1044.
std::vector<ReliabilityRow> Textbook() {
  return {{0.0, 0.2, 0, 0, 0.0},
          {0.2, 0.4, 0, 0, 0.0},
          {0.4, 0.6, 2, 1, 0.58 + 0.51},
          {0.6, 0.8, 4, 3, 0.78 + 0.64 + 0.70 + 0.63},
          {0.8, 1.0, 3, 2, 0.92 + 0.85 + 0.83}};
}

// The same a million times: nothing is rare.
std::vector<ReliabilityRow> ManyVoxels() {
  std::vector<ReliabilityRow> bins = Textbook();
  for (ReliabilityRow& bin : bins) {
    bin.count *= 1'000'000;
    bin.correct *= 1'000'000;
    bin.confidence_sum *= 1e6;
  }
  return bins;
}

std::vector<double> Heights(const std::vector<testing::Element>& rects) {
  std::vector<double> heights;
  // Signs of the legend are 12 pixels square.
  for (const auto& rect : rects) {
    if (rect.Number("width") > 12.0) heights.push_back(rect.Number("height") / kSide);
  }
  return heights;
}

TEST(Reliability, BarsAreAsHighAsTheNumbers) {
  const auto elements = testing::ReadSvg(ReliabilitySvg({{"none", ManyVoxels()}}));
  const auto blue = Heights(testing::Select(elements, "rect", HexColor(kBlue)));
  const auto red = Heights(testing::Select(elements, "rect", HexColor(kRed)));
  const auto amber = Heights(testing::Select(elements, "rect", HexColor(kAmber)));
  ASSERT_EQ(blue.size(), 3u);  // empty bins are left open
  EXPECT_NEAR(blue[0], 0.5, kRounding);
  EXPECT_NEAR(blue[1], 0.6875, kRounding);
  EXPECT_NEAR(blue[2], 2.0 / 3.0, kRounding);
  ASSERT_EQ(red.size(), 2u);
  ASSERT_EQ(amber.size(), 1u);
  EXPECT_NEAR((2 * red[0] + 4 * amber[0] + 3 * red[1]) / 9.0, 0.94 / 9.0, kRounding);  // ECE
}

TEST(Reliability, BarsStandOverTheirBins) {
  const auto elements = testing::ReadSvg(ReliabilitySvg({{"none", ManyVoxels()}}));
  const auto blue = testing::Select(elements, "rect", HexColor(kBlue));
  EXPECT_NEAR(blue[1].Number("x") - blue[0].Number("x"), 0.2 * kSide, 0.002);
  EXPECT_NEAR(blue[0].box().bottom(), blue[2].box().bottom(), 0.002);
  EXPECT_LT(blue[0].Number("width"), 0.2 * kSide);  // neighbours do not touch
}

// One decade is a sixth to a half of the axis; here shares 1 : 0.01 differ by half the height of a
// four-decade axis, and the rarest bin (1 of 10101) stands just above its bottom.
TEST(Reliability, HistogramIsLogarithmic) {
  const std::vector<ReliabilityRow> bins = {
      {0.0, 0.3, 1, 1, 0.2}, {0.3, 0.6, 100, 50, 50.0}, {0.6, 1.0, 10000, 9000, 9000.0}};
  const auto elements = testing::ReadSvg(ReliabilitySvg({{"none", bins}}));
  std::vector<double> heights;
  for (const auto& rect : testing::Select(elements, "rect", HexColor(kHatchDark))) {
    heights.push_back(rect.Number("height"));
  }
  ASSERT_EQ(heights.size(), 3u);
  EXPECT_NEAR(heights[2] - heights[1], heights[1] - heights[0], 0.003);
  const auto texts = testing::Texts(elements);
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "100%"), 1);
}

TEST(Reliability, ShowsHeadlineNumbersAndTotals) {
  const auto texts = testing::Texts(testing::ReadSvg(ReliabilitySvg(
      {{"ts(z) & <more>", Textbook(), {}, {{"ECE", 0.10444}, {"NLL", std::nan("")}}}})));
  // 6 of 9 correct; mean confidence 6.44 / 9.
  for (const char* expected : {"ts(z) &amp; &lt;more&gt;",
                               "ECE",
                               "0.1044",
                               "NLL",
                               "–",
                               "accuracy 0.667 · confidence 0.716 · n = 9"}) {
    EXPECT_EQ(std::count(texts.begin(), texts.end(), expected), 1) << expected;
  }
}

TEST(Reliability, MarksOverallAccuracyAndConfidence) {
  const auto elements = testing::ReadSvg(ReliabilitySvg({{"none", ManyVoxels()}}));
  const double left =
      testing::Select(elements, "rect", HexColor(kBlue))[0].Number("x") - 0.4 * kSide - 0.5;
  std::vector<double> marks;
  for (const auto& line : testing::Select(elements, "line")) {
    if (line.Has("stroke-width", "2") && line.Number("x1") == line.Number("x2")) {
      marks.push_back((line.Number("x1") - left) / kSide);
    }
  }
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_NEAR(marks[0], 6.0 / 9.0, 2 * kRounding);
  EXPECT_NEAR(marks[1], 6.44 / 9.0, 2 * kRounding);
}

TEST(Reliability, SaysWhenThereIsNothingToShow) {
  for (const auto& bins :
       {std::vector<ReliabilityRow>{}, std::vector<ReliabilityRow>{{0.0, 1.0, 0, 0, 0.0}}}) {
    const auto elements = testing::ReadSvg(ReliabilitySvg({{"none", bins}}));
    const auto texts = testing::Texts(elements);
    EXPECT_EQ(std::count(texts.begin(), texts.end(), "no labelled voxels"), 1);
    EXPECT_TRUE(Heights(testing::Select(elements, "rect", HexColor(kBlue))).empty());
  }
}

TEST(Reliability, LayoutHoldsForAnyNumberOfPanels) {
  std::vector<ReliabilityRow> many;
  for (int i = 0; i < 100; ++i) {
    const int64_t count = int64_t{1} << (i / 2);
    many.push_back(
        {i / 100.0, (i + 1) / 100.0, count, count / 2, static_cast<double>(count) * i / 100.0});
  }
  std::vector<ReliabilityPanel> panels;
  for (int i = 0; i < 7; ++i) {
    panels.push_back({"a pipeline with a title that cannot be shown in full, ever",
                      i % 2 == 0 ? many : Textbook(),
                      i % 3 == 0 ? many : std::vector<ReliabilityRow>(),
                      {{"a long metric name", 123456.789},
                       {"b", -1.0},
                       {"c", 0.5},
                       {"d", INFINITY},
                       {"e", 1.0}}});
    testing::ExpectGoodLayout(ReliabilitySvg(panels));
    testing::ExpectGoodLayout(ReliabilitySvg(panels, "dc(z): each class against the rest"));
  }
  testing::ExpectGoodLayout(ReliabilitySvg({}));
}

// Bins of 2, 4 and 3 voxels say little: no bar is drawn in full, and every one has its interval.
TEST(Reliability, BinsOfFewVoxelsAreFaintWithIntervals) {
  const auto few = testing::ReadSvg(ReliabilitySvg({{"none", Textbook()}}));
  EXPECT_TRUE(Heights(testing::Select(few, "rect", HexColor(kBlue))).empty());
  const std::string faint = HexColor(Mix(kBlue, kPaper, 0.68));
  EXPECT_EQ(Heights(testing::Select(few, "rect", faint)).size(), 3u);
  const auto interval_lines = [](const std::vector<testing::Element>& elements) {
    const auto lines = testing::Select(elements, "line");
    return std::count_if(lines.begin(), lines.end(), [](const testing::Element& line) {
      return line.Has("stroke", HexColor(kFaint)) && line.Number("x1") == line.Number("x2");
    });
  };
  EXPECT_EQ(interval_lines(few), 3);
  EXPECT_EQ(interval_lines(testing::ReadSvg(ReliabilitySvg({{"none", ManyVoxels()}}))), 0);
  const auto texts = testing::Texts(few);
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "faint: few voxels, 95 % interval"), 1);
}

TEST(Reliability, DrawsHowItWasBeforeAsALine) {
  std::vector<ReliabilityRow> before = ManyVoxels();
  for (ReliabilityRow& bin : before) bin.correct /= 2;
  const auto plain = testing::ReadSvg(ReliabilitySvg({{"ts(z)", ManyVoxels()}}));
  EXPECT_TRUE(testing::Select(plain, "polyline").empty());
  const auto both = testing::ReadSvg(
      ReliabilitySvg({{"ts(z)", ManyVoxels(), before}}, {}, {.before = "before: none(z)"}));
  EXPECT_EQ(testing::Select(both, "polyline").size(), 2u);  // white under violet
  const auto texts = testing::Texts(both);
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "before: none(z)"), 1);
}

// Closed form at p = 1/2 and n = 100: 1/2 -+ z / (2 sqrt(n + z^2)).
TEST(WilsonInterval, IsThatOfWilson) {
  const ShareInterval half = WilsonInterval(50, 100);
  const double z = 1.959963984540054;
  EXPECT_NEAR(half.high, 0.5 + 0.5 * z / std::sqrt(100.0 + z * z), 1e-12);
  EXPECT_NEAR(half.low, 1.0 - half.high, 1e-12);
  // None of n: z^2 / (n + z^2).
  EXPECT_NEAR(WilsonInterval(0, 20).high, z * z / (20.0 + z * z), 1e-12);
  EXPECT_EQ(WilsonInterval(0, 20).low, 0.0);
  EXPECT_EQ(WilsonInterval(0, 0).width(), 1.0);
}

TEST(PanelColumns, FollowTheNumberOfPanels) {
  EXPECT_EQ(PanelColumns(0), 1u);
  EXPECT_EQ(PanelColumns(1), 1u);
  EXPECT_EQ(PanelColumns(2), 2u);
  EXPECT_EQ(PanelColumns(4), 2u);
  EXPECT_EQ(PanelColumns(6), 3u);
  EXPECT_EQ(PanelColumns(8), 4u);
  EXPECT_EQ(PanelColumns(12), 4u);
  EXPECT_EQ(PanelColumns(24), 6u);
}

TEST(Reliability, HoldsCountsBeyondFloat) {
  const int64_t half = int64_t{1} << 40;
  const auto texts = testing::Texts(testing::ReadSvg(ReliabilitySvg(
      {{"none",
        {{0.0, 0.5, half, 0, 0.0}, {0.5, 1.0, half + 1, half + 1, static_cast<double>(half)}}}})));
  EXPECT_EQ(
      std::count(
          texts.begin(), texts.end(), "accuracy 0.500 · confidence 0.500 · n = 2,199,023,255,553"),
      1);
}

}  // namespace
}  // namespace segcal
