// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "segcal/tables.h"

namespace segcal {

// Which way a metric is better; neither where it has no best value, or zero is best.
Better FindDirection(const std::string& metric);

// "NLL ↓", in a cell rather than a header.
std::string MetricTitle(const MetricColumn& column);

}  // namespace segcal
