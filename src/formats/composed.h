// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "formats/array.h"

namespace segcal {

// Item `item` along the first axis of an array, as an array with the other axes.
std::unique_ptr<Array> ItemOf(std::unique_ptr<Array> batch, int64_t item);

// Throws unless an array has the shape and type of the first of those that make up one.
void CheckAlike(const Array& first, const std::string& name, const ArrayInfo& info);

// Arrays of one shape and type as one with a new first axis. It has the name and spacing of the
// first. At least one is required.
std::unique_ptr<Array> Stacked(std::vector<std::unique_ptr<Array>> parts);

}  // namespace segcal
