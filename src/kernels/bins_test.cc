// SPDX-License-Identifier: Apache-2.0
#include "kernels/bins.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/reference_for_test.h"
#include "kernels/softmax.h"
#include "kernels/tiles_for_test.h"

namespace segcal {
namespace {

constexpr int64_t kBinCounts[] = {1, 2, 3, 10, 15, 50, 100, 997, 10000};

std::vector<float> EqualEdges(int64_t num_bins) {
  std::vector<float> upper;
  for (int64_t k = 1; k <= num_bins; ++k) {
    upper.push_back(static_cast<float>(static_cast<double>(k) / static_cast<double>(num_bins)));
  }
  return upper;
}

// Where a wrong bin would show: every edge, its neighbours, both ends.
std::vector<float> CriticalValues(const std::vector<float>& upper) {
  std::vector<float> values = {0.0f, 1e-38f, 1e-7f, 1.0f, 1.0f + 0x1p-23f};
  for (const float edge : upper) {
    values.insert(values.end(), {std::nextafter(edge, 0.0f), edge, std::nextafter(edge, 2.0f)});
    values.push_back(edge - 0.5f / static_cast<float>(upper.size()));
  }
  return values;
}

TEST(FindBins, AgreesWithComparisonAtEveryEdgeAndItsNeighbours) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_bins : kBinCounts) {
      const std::vector<float> upper = EqualEdges(num_bins);
      const std::vector<float> values = CriticalValues(upper);
      std::vector<uint16_t> bins(values.size());
      for (const bool closed_above : {true, false}) {
        const BinEdges edges{.upper = upper, .closed_above = closed_above};
        FindBins(values.data(), static_cast<int64_t>(values.size()), edges, bins.data());
        for (size_t i = 0; i < values.size(); ++i) {
          ASSERT_EQ(bins[i], reference::Bin(values[i], edges))
              << target << " " << num_bins << " bins, x = " << values[i];
        }
      }
    }
  });
}

void ExpectSame(const std::vector<BinSums>& fast, const std::vector<BinSums>& exact) {
  for (size_t k = 0; k < exact.size(); ++k) {
    EXPECT_EQ(fast[k].count, exact[k].count) << "bin " << k;
    EXPECT_EQ(fast[k].correct, exact[k].correct) << "bin " << k;
    EXPECT_NEAR(fast[k].confidence, exact[k].confidence, 1e-14 * exact[k].confidence)
        << "bin " << k;
  }
}

TEST(AddClasswiseBins, AgreesWithReference) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : {1, 2, 5, 20, 150}) {
      const RandomTile random(4, num_classes, 240, 9.0);
      AlignedArray<float> probs(num_classes * kTileVoxels);
      AlignedArray<float> log_label(kTileVoxels);
      SoftmaxTile(random.tile, 1.0, {probs.data(), log_label.data()});
      for (const int64_t num_bins : {1, 15, 50}) {
        SCOPED_TRACE(target + " C " + std::to_string(num_classes));
        const std::vector<float> upper = EqualEdges(num_bins);
        const BinEdges edges{.upper = upper, .closed_above = true};
        std::vector<BinSums> fast(static_cast<size_t>(num_classes * num_bins));
        std::vector<BinSums> exact(fast.size());
        AddClasswiseBins(probs.data(), random.labels.data(), num_classes, edges, fast.data());
        reference::ClasswiseBins(
            probs.data(), random.labels.data(), num_classes, edges, exact.data());
        ExpectSame(fast, exact);
      }
    }
  });
}

}  // namespace
}  // namespace segcal
