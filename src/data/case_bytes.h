// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segcal/dataset.h"

namespace segcal {

// Of its files, or of the caller's memory; nothing is opened. What cannot be read fails where it is
// read, with a better message.
int64_t SourceBytes(const Dataset& dataset, const ArraySource& source);

// Of all its members: what cases are dealt by.
int64_t PredictionBytes(const Dataset& dataset, const Case& entry);

}  // namespace segcal
