// SPDX-License-Identifier: Apache-2.0
#include "measures/cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "segcal/error.h"

namespace segcal {
namespace {

// Confidences of all sizes, and every start of every supported rule with its neighbours.
std::vector<float> HardValues() {
  std::vector<float> values = {0.0f, 1.0f, std::nextafter(1.0f, 2.0f), 1e-40f, 1e-10f};
  for (const std::string& edges : EdgeNames()) {
    for (const int64_t bins : SupportedBinCounts()) {
      for (const float start : BinStarts({bins, edges})) {
        values.insert(values.end(), {start, std::nextafter(start, 0.0f)});
        values.push_back(std::nextafter(start, 2.0f));
      }
    }
  }
  Rng rng(5, 0);
  for (int i = 0; i < 2000; ++i) values.push_back(static_cast<float>(rng.Uniform()));
  return values;
}

TEST(CellGrid, FindsTheCellThatHoldsAValue) {
  const auto grid = CellGrid::Make({{13, "closed"}, {997, "open"}});
  for (const float x : HardValues()) {
    const int64_t cell = FindCell(x, grid->edges());
    EXPECT_LE(grid->lower(cell), x);
    if (cell + 1 < grid->num_cells()) {
      EXPECT_LT(x, grid->lower(cell + 1));
    }
  }
}

TEST(CellGrid, StartsWithZeroAloneAndWhatIsNext) {
  const auto grid = CellGrid::Make({});
  EXPECT_EQ(FindCell(0.0f, grid->edges()), 0);
  EXPECT_EQ(FindCell(1e-45f, grid->edges()), 1);
  EXPECT_EQ(FindCell(std::nextafter(grid->low(), 0.0f), grid->edges()), 1);
  EXPECT_EQ(FindCell(grid->low(), grid->edges()), 2);
  EXPECT_LT(grid->num_cells(), 1200);
}

TEST(CellGrid, IsSharedUnlessAnUnusualRuleIsAskedFor) {
  EXPECT_EQ(CellGrid::Make({}), CellGrid::Make({{50, "closed"}, {15, "stretched"}}));
  EXPECT_NE(CellGrid::Make({}), CellGrid::Make({{13, "closed"}}));
}

// Bins folded from cells are what binning every value by itself gives, for every rule.
TEST(CellSums, FoldIntoTheBinsOfEverySupportedRule) {
  const std::vector<float> values = HardValues();
  CellSums sums(CellGrid::Make({{13, "open"}}), 1);
  for (size_t i = 0; i < values.size(); ++i) sums.Add(0, values[i], i % 3 == 0);
  sums.Flush();
  std::vector<BinRule> rules = {{13, "open"}};
  for (const std::string& edges : EdgeNames()) {
    for (const int64_t bins : SupportedBinCounts()) rules.push_back({bins, edges});
  }
  for (const BinRule& rule : rules) {
    const std::vector<float> starts = BinStarts(rule);
    std::vector<int64_t> count(starts.size()), correct(starts.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const auto above = std::upper_bound(starts.begin(), starts.end(), values[i]);
      if (above == starts.begin()) continue;
      const auto k = static_cast<size_t>(above - starts.begin() - 1);
      ++count[k];
      correct[k] += i % 3 == 0 ? 1 : 0;
    }
    const std::vector<Bin> bins = sums.Bins(rule);
    for (size_t k = 0; k < bins.size(); ++k) {
      EXPECT_EQ(bins[k].count, count[k]) << rule.bins << rule.edges << k;
      EXPECT_EQ(bins[k].correct, correct[k]) << rule.bins << rule.edges << k;
    }
  }
}

TEST(CellSums, RefuseBinsThatCutCells) {
  const CellSums sums(CellGrid::Make({}), 1);
  EXPECT_THROW(sums.Bins({13, "closed"}), Error);
}

TEST(CellSums, KeepGroupsApart) {
  CellSums sums(CellGrid::Make({}), 3);
  sums.Add(0, 0.5f, true);
  sums.Add(2, 0.5f, false);
  sums.Add(2, 0.25f, true);
  sums.Flush();
  const BinRule one{1, "closed"};
  EXPECT_EQ(sums.Bins(one, 0)[0].count, 1);
  EXPECT_EQ(sums.Bins(one, 1)[0].count, 0);
  EXPECT_EQ(sums.Bins(one, 2)[0].confidence.value(), 0.75);
  EXPECT_EQ(sums.Bins(one)[0].correct, 2);
  EXPECT_EQ(sums.Count(), 3);
  EXPECT_EQ(sums.Count(2), 2);
  const std::vector<Cell> cells = sums.Cells();
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[1].group, 2);
  EXPECT_LT(cells[1].cell, cells[2].cell);
}

// The vector path of a row against one value at a time.
TEST(CellSums, ARowIsItsVoxels) {
  alignas(64) float row[kTileVoxels];
  alignas(64) int32_t labels[kTileVoxels];
  Rng rng(8, 0);
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    const double u = rng.Uniform();
    row[v] = static_cast<float>(v % 5 == 0 ? u : std::exp(-30.0 * u));
    if (v % 11 == 0) row[v] = 0.0f;
    if (v % 13 == 0) row[v] = 1.0f;
    labels[v] = v % 7 == 0 ? kNoLabel : static_cast<int32_t>(rng.Below(3));
  }
  CellSums fast(CellGrid::Make({}), 2), slow(CellGrid::Make({}), 2);
  fast.AddRow(1, row, 2, labels);
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    if (labels[v] != kNoLabel) slow.Add(1, row[v], labels[v] == 2);
  }
  fast.Flush();
  slow.Flush();
  const std::vector<Cell> found = fast.Cells(), expected = slow.Cells();
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].cell, expected[i].cell);
    EXPECT_EQ(found[i].sums.count, expected[i].sums.count);
    EXPECT_EQ(found[i].sums.correct, expected[i].sums.correct);
    EXPECT_NEAR(found[i].sums.confidence.value(), expected[i].sums.confidence.value(), 1e-15);
  }
}

}  // namespace
}  // namespace segcal
