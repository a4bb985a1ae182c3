// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/stream.h"
#include "pipeline/shared_data.h"
#include "pipeline/spec.h"
#include "segcal/fit.h"

namespace segcal {

// What a fit chooses options by.
struct SearchCases {
  int64_t trials = 0;
  const CaseStream* validation = nullptr;  // null: cross-validation
};

// What an earlier run of a fit has left: FitOptions::checkpoint, finished and resume.
struct CheckpointFile {
  std::string path;
  bool resume = false;
  std::string finished = {};  // the model, where it is complete
};

// Fits on the cases of shared data, whatever their split; fits with other pipelines may follow.
Model FitShared(SharedData* shared,
                const PipelineSpec& spec,
                const SearchCases& search = {},
                const CheckpointFile& checkpoint = {});

// The same for one fit alone, on the cases of a stream: files, or the caller's arrays.
Model FitStream(const CaseStream& stream,
                const PipelineSpec& spec,
                uint64_t seed,
                const SearchCases& search = {},
                const CheckpointFile& checkpoint = {});

}  // namespace segcal
