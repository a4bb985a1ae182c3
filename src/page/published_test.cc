// SPDX-License-Identifier: Apache-2.0
#include "page/published.h"

#include <gtest/gtest.h>

#include <string>

#include "pipeline/spec.h"

namespace segcal {
namespace {

TEST(PublishedDifferences, AreOfPipelinesThatExistAndLieInTheirIntervals) {
  for (const PublishedDifference& row : PublishedDifferences()) {
    const std::string where = std::string(row.first) + " " + row.second + " " + row.metric;
    EXPECT_EQ(ShortPipeline(row.first), row.first);
    EXPECT_EQ(ShortPipeline(row.second), row.second);
    EXPECT_LE(row.lower, row.estimate) << where;
    EXPECT_GE(row.upper, row.estimate) << where;
  }
}

// The paper rounds to four decimals: an interval that excludes zero may show an end of zero.
TEST(PublishedDifferences, AreMarkedWhereTheirIntervalExcludesZero) {
  int marked = 0;
  for (const PublishedDifference& row : PublishedDifferences()) {
    const bool around_zero = row.lower < 0.0 && row.upper > 0.0;
    const bool excludes_zero = row.lower > 0.0 || row.upper < 0.0;
    EXPECT_FALSE(around_zero && row.significant) << row.first << row.metric << row.dataset;
    EXPECT_FALSE(excludes_zero && !row.significant) << row.first << row.metric << row.dataset;
    marked += row.significant ? 1 : 0;
  }
  EXPECT_EQ(PublishedDifferences().size(), 81u);
  EXPECT_EQ(marked, 51);
}

}  // namespace
}  // namespace segcal
