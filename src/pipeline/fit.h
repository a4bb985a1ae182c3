// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/stream.h"
#include "pipeline/spec.h"
#include "segcal/fit.h"

namespace segcal {

// Fits on the cases of a stream, whatever their split: files, or the caller's arrays.
Model FitStream(const CaseStream& stream, const PipelineSpec& spec, uint64_t seed);

}  // namespace segcal
