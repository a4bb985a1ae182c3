// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "data/stream.h"
#include "segcal/run_options.h"

namespace segcal {

// The stream options of a run; too little memory is an Error.
StreamOptions MakeStreamOptions(const RunOptions& run);

// The data set, or with skip_bad the part of it that can be read, which may be nothing.
Dataset GoodCases(const Dataset& dataset,
                  const std::vector<Pooling>& poolings,
                  const RunOptions& run,
                  std::vector<std::string>* skipped,
                  Excused excused = Excused::kUnlabelled);

// The data set, or with skip_bad the part of it that can be read; nothing left is an Error.
Dataset ReadableCases(const Dataset& dataset,
                      const std::vector<Pooling>& poolings,
                      const RunOptions& run,
                      std::vector<std::string>* skipped,
                      Excused excused = Excused::kUnlabelled);

// That nothing is left of a data set: it had no cases, or all were skipped ("case: why").
[[noreturn]] void RefuseNoCases(const std::string& dataset,
                                const std::vector<std::string>& skipped);

}  // namespace segcal
