// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "segcal/tables.h"

namespace segcal {

struct TitledRow {
  const char* name;
  const char* title;
};

// The rows and columns of Table 1 of Ding21, and the metric where they meet.
inline constexpr std::array<TitledRow, 4> kRegionErrors = {
    {{"ece", "ECE"}, {"mce", "MCE"}, {"sce", "SCE"}, {"adaptive", "ACE"}}};
inline constexpr std::array<TitledRow, 4> kRegionColumns = {{{"all", "All"},
                                                             {"boundary", "Boundary"},
                                                             {"local_avg", "Local-Avg"},
                                                             {"local_max", "Local-Max"}}};
std::string RegionMetric(const TitledRow& error, const TitledRow& region);

// "Boundary SCE" for a metric that the table of regions shows; empty for others.
std::string RegionHeader(const std::string& metric);

}  // namespace segcal
