// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/monotone_map.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/json.h"
#include "core/rng.h"
#include "segcal/error.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

std::vector<ProbCell> MakeCellRows(const std::vector<ProbCell>& given) {
  std::vector<ProbCell> cells = given;
  for (ProbCell& cell : cells) cell.key = ProbKey(cell.lower);
  return cells;
}

// 0/2 at 0.1, 1/2 at 0.2 and 1/4 at 0.3 (pooled: 2/6), 3/3 on [0.5, 0.75].
std::vector<ProbCell> Example() {
  return MakeCellRows({{.lower = 0.1f, .upper = 0.1f, .count = 2, .hits = 0},
                       {.lower = 0.2f, .upper = 0.2f, .count = 2, .hits = 1},
                       {.lower = 0.3f, .upper = 0.3f, .count = 4, .hits = 1},
                       {.lower = 0.5f, .upper = 0.75f, .count = 3, .hits = 3}});
}

TEST(MonotoneMap, IsConstantOnBlocksAndLinearBetween) {
  const MonotoneMap map(Example(), 0.0);
  EXPECT_EQ(map.num_blocks(), 3);
  EXPECT_EQ(map.At(0.0f), 0.0);
  EXPECT_EQ(map.At(0.1f), 0.0);
  EXPECT_NEAR(map.At(0.15f), 0.5 * 2.0 / 6.0, 1e-7);
  EXPECT_EQ(map.At(0.2f), 2.0 / 6.0);
  EXPECT_EQ(map.At(0.25f), 2.0 / 6.0);
  EXPECT_EQ(map.At(0.3f), 2.0 / 6.0);
  EXPECT_NEAR(map.At(0.4f), 0.5 * (2.0 / 6.0 + 1.0), 1e-7);
  EXPECT_EQ(map.At(0.6f), 1.0);
  EXPECT_EQ(map.At(1.0f), 1.0);
}

TEST(MonotoneMap, SmoothsItsBlocks) {
  const MonotoneMap map(Example(), 1.0);
  EXPECT_EQ(map.At(0.1f), 0.5 / 3.0);
  EXPECT_EQ(map.At(0.3f), 2.5 / 7.0);
  EXPECT_EQ(map.At(0.5f), 3.5 / 4.0);
}

// Random cells, neighbouring floats: no rounding may make the map fall.
TEST(MonotoneMap, NeverDecreasesInFloatArithmetic) {
  Rng rng(4, 0);
  ProbCells cells(100000);
  for (int i = 0; i < 3000; ++i) {
    const auto p = static_cast<float>(std::exp(-12.0 * rng.Uniform()));
    cells.Add(p, rng.Uniform() < static_cast<double>(p));
  }
  for (const double smoothing : {0.0, 1.0}) {
    const MonotoneMap map(cells.Sorted(), smoothing);
    EXPECT_GE(map.SmallestRise(), 0.0);
    for (const float start : {1e-6f, 1e-4f, 0.01f, 0.3f, 0.9f, 0.999f}) {
      float p = start;
      for (int i = 0; i < 20000; ++i) {
        const float next = std::min(1.0f, std::nextafter(p, 2.0f));
        ASSERT_LE(map.At(p), map.At(next)) << p;
        p = next;
      }
    }
    for (int i = 1; i <= 10000; ++i) {
      ASSERT_LE(map.At(static_cast<float>(i - 1) / 10000.0f),
                map.At(static_cast<float>(i) / 10000.0f));
    }
  }
}

TEST(MonotoneMap, SurvivesItsJson) {
  const MonotoneMap map(Example(), 1.0);
  const MonotoneMap read = MonotoneMap::FromJson(ParseJson(DumpJson(map.ToJson()), "x"), "x");
  for (int i = 0; i <= 1000; ++i) {
    EXPECT_EQ(read.At(static_cast<float>(i) / 1000.0f), map.At(static_cast<float>(i) / 1000.0f));
  }
}

TEST(MonotoneMap, RefusesWhatIsNotMonotone) {
  const auto refused = [](const Json& json, const std::string& why) {
    testing::ExpectError(
        ErrorCode::kBadData, {"m: ", why}, [&] { MonotoneMap::FromJson(json, "m"); });
  };
  const auto blocks = [](const Json& lower, const Json& upper, const Json& values) {
    return Json{{"lower", lower}, {"upper", upper}, {"values", values}};
  };
  const Json none = Json::array();
  EXPECT_NO_THROW(MonotoneMap::FromJson(blocks({0.0, 0.5}, {0.25, 1.0}, {0.1, 0.1}), "m"));
  refused(blocks({0.0, 0.5}, {0.25, 1.0}, {0.2, 0.1}), "values[1] is 0.1, a value in [0.2, 1]");
  refused(blocks({0.0, 0.5}, {0.5, 1.0}, {0.1, 0.2}), "block 1 is [0.5, 1]");
  refused(blocks({0.5}, {0.25}, {0.1}), "block 0 is [0.5, 0.25]");
  refused(blocks({0.5}, {0.75}, {1.5}), "values[0] is 1.5");
  refused(blocks({0.1}, {0.75}, {0.5}), "lower[0] is 0.1, a float32 value");
  refused(blocks({0.5}, {0.75}, none), "1 lower, 1 upper and 0 values");
}

}  // namespace
}  // namespace segcal
