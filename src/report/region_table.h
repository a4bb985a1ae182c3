// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "segcal/tables.h"

namespace segcal {

// "Boundary SCE" for a metric that the table of regions shows; empty for others.
std::string RegionHeader(const std::string& metric);

}  // namespace segcal
