// SPDX-License-Identifier: Apache-2.0
#include "kernels/distance_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/rng.h"
#include "kernels/dispatch.h"

namespace segcal {
namespace {

template <class Check>
void ForEachTarget(const Check& check) {
  const std::string before = ActiveTarget();
  for (const std::string& target : SupportedTargets()) {
    PinTarget(target);
    check(target);
  }
  PinTarget(before);
}

// Twin: every voxel against every source of its column.
TEST(ScanColumns, FindsTheNearestSourceOfEachColumn) {
  constexpr int64_t kHeight = 37;
  constexpr int64_t kStride = 90;
  for (const int64_t width : {1, 5, 16, 83}) {
    std::vector<uint8_t> sources(kHeight * kStride);
    Rng rng(4, 0);
    for (uint8_t& source : sources) source = rng.Below(40) == 0 ? 3 : 0;
    ForEachTarget([&](const std::string& target) {
      std::vector<uint32_t> squared(sources.size(), 7);
      ScanColumns(sources.data(), width, kHeight, kStride, squared.data());
      for (int64_t x = 0; x < kStride; ++x) {
        for (int64_t y = 0; y < kHeight; ++y) {
          uint32_t nearest = kFarSquared;
          for (int64_t q = 0; q < kHeight; ++q) {
            if (sources[static_cast<size_t>(q * kStride + x)] != 0)
              nearest = std::min(nearest, static_cast<uint32_t>((y - q) * (y - q)));
          }
          if (x >= width) nearest = 7;  // not touched
          ASSERT_EQ(squared[static_cast<size_t>(y * kStride + x)], nearest) << target << width;
        }
      }
    });
  }
}

// Twin: all pairs. The largest value a result may have is that of the reach.
TEST(NearestInRow, IsTheMinimumOverTheRowOrSaysThatItIsNot) {
  for (const int64_t n : {1, 7, 64, 65, 700}) {
    for (const int64_t rare : {3, 60, 400}) {
      Rng rng(static_cast<uint64_t>(n * rare), 0);
      std::vector<uint32_t> row(static_cast<size_t>(n + 2 * kRowMargin), kFarSquared);
      uint32_t* values = row.data() + kRowMargin;
      for (int64_t x = 0; x < n; ++x) {
        if (rng.Below(rare) == 0) values[x] = static_cast<uint32_t>(rng.Below(2000));
      }
      std::vector<uint32_t> expected(static_cast<size_t>(n), kFarSquared);
      for (int64_t x = 0; x < n; ++x) {
        for (int64_t q = 0; q < n; ++q) {
          const auto apart = static_cast<uint64_t>((x - q) * (x - q));
          const uint64_t found = std::min<uint64_t>(kFarSquared, values[q] + apart);
          expected[static_cast<size_t>(x)] =
              std::min(expected[static_cast<size_t>(x)], static_cast<uint32_t>(found));
        }
      }
      const uint32_t largest = *std::max_element(expected.begin(), expected.end());
      ForEachTarget([&](const std::string& target) {
        std::vector<uint32_t> out(static_cast<size_t>((n + 63) / 64 * 64));
        const bool found = NearestInRow(values, n, out.data());
        EXPECT_EQ(found, largest <= (kRowReach + 1) * (kRowReach + 1)) << target << n << rare;
        out.resize(expected.size());
        if (found) {
          EXPECT_EQ(out, expected) << target << n << rare;
        }
      });
    }
  }
}

}  // namespace
}  // namespace segcal
