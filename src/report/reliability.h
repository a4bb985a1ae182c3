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
  std::vector<ReliabilityRow> before = {};  // drawn as a line over the bars; empty: none
  std::vector<std::pair<std::string, double>> numbers = {};  // for example {"ECE", 0.031}
};

// What the axes and the line are called.
struct ReliabilityWords {
  std::string rate = "accuracy";
  std::string mean = "confidence";
  std::string before = "before";
};

// A reliability diagram per panel, in as many columns as make a page of good proportions. Bars are
// the accuracy of each bin; the part between accuracy and mean confidence, which ECE averages, is
// red where the model is over-confident and amber where it is under-confident. Below, the share of
// voxels per bin on a logarithmic scale with marks for overall accuracy and mean confidence. Empty
// bins are left open, those of few voxels are faint and have their interval (reliability_bars.h).
// A heading, if given, says what all panels are about.
std::string ReliabilitySvg(const std::vector<ReliabilityPanel>& panels,
                           const std::string& heading = {},
                           const ReliabilityWords& words = {});

// Columns for so many panels: pages a little wider than high, few empty places.
size_t PanelColumns(size_t count) noexcept;

}  // namespace segcal
