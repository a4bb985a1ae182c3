// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "metrics/metric.h"

namespace segcal {

// One pipeline: its bins and the numbers to show with them.
struct ReliabilityPanel {
  std::string title;
  std::vector<ReliabilityRow> bins = {};
  std::vector<std::pair<std::string, double>> numbers = {};  // for example {"ECE", 0.031}
};

// What the axes are called.
struct ReliabilityWords {
  std::string rate = "accuracy";
  std::string mean = "confidence";
};

// A reliability diagram per panel, side by side (up to three in a row). Bars are the accuracy of
// each bin; the part between accuracy and mean confidence, which ECE averages, is red where the
// model is over-confident and amber where it is under-confident. Below, the share of voxels per bin
// on a logarithmic scale with marks for overall accuracy and mean confidence. Empty bins are left
// open.
// A heading, if given, says what all panels are about.
std::string ReliabilitySvg(const std::vector<ReliabilityPanel>& panels,
                           const std::string& heading = {},
                           const ReliabilityWords& words = {});

}  // namespace segcal
