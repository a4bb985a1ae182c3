// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/dtype.h"
#include "segcal/export.h"
#include "segcal/model.h"
#include "segcal/run_options.h"
#include "segcal/views.h"

namespace segcal {

struct ApplyOptions {
  RunOptions run;
  std::string split;  // empty: all cases
  // What to write: "probabilities" (C, spatial...), "confidence", "labels", "entropy" (nats),
  // "temperature", "log_label" (log-probability of the label; needs labels): names of
  // ListOutputs(). Several go to sub-folders of that name.
  std::vector<std::string> write = {"probabilities"};
  std::string format = "npy";  // a name of ListFormats() that can be written
  DType dtype = DType::kF32;   // kF16 or kF32, for everything but labels
};

struct ApplyResult {
  std::string pipeline;  // that was applied
  std::vector<std::string> files;
  int64_t voxels = 0;
  int64_t renormalised = 0;  // probability rows whose sum was off by more than 1e-3
  std::vector<std::string> skipped;
};

// Applies a model to every case of a data set and writes folder/<case id>.<extension>. Masked
// voxels get the uncalibrated probabilities.
SEGCAL_EXPORT ApplyResult Apply(const Model& model,
                                const Dataset& dataset,
                                const std::string& folder,
                                const ApplyOptions& options = {});

// Applies a model to one case, files or memory, classes first, and puts the results into the
// caller's arrays, which may not overlap each other or what is read. Masked voxels get the
// uncalibrated probabilities; labels are not looked at; relative paths start at the working folder.
// Where it is stopped or ends in an Error, arrays are written in part.
SEGCAL_EXPORT void Apply(const Model& model,
                         const Case& entry,
                         const ApplyOutputs& out,
                         const RunOptions& run = {});

// The result as documented in docs/formats.md.
SEGCAL_EXPORT std::string ToJson(const ApplyResult& result);

}  // namespace segcal
