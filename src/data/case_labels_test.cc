// SPDX-License-Identifier: Apache-2.0
#include "data/case_labels.h"

#include <gtest/gtest.h>

#include "kernels/tile.h"
#include "tests/support/scene.h"

namespace segcal {
namespace {

// More voxels than one block: labels as they are, without those that are ignored or masked.
TEST(ReadAllLabels, LeavesOutWhatTakesNoPart) {
  testing::Scene scene = testing::RandomScene({.num_cases = 1, .shape = {101, 103}});
  scene.masks = {std::vector<uint8_t>(scene.labels[0].size(), 1)};
  for (size_t v = 0; v < scene.masks[0].size(); v += 3) scene.masks[0][v] = 0;
  std::vector<int32_t> expected = scene.labels[0];
  for (size_t v = 0; v < expected.size(); ++v) {
    if (expected[v] == scene.dataset.ignore_label || v % 3 == 0) expected[v] = kNoLabel;
  }
  EXPECT_EQ(ReadAllLabels(*scene.Stream(1)->Open(0)), expected);
}

}  // namespace
}  // namespace segcal
