// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segcal/export.h"
#include "segcal/run_options.h"

namespace segcal {

struct ReportOptions {
  RunOptions run;
  // Data set file or folder that cases to look at are read from; empty: the one that the study was
  // made with, if it is still there.
  std::string dataset;
  int64_t cases = 4;                  // to look at; 0: none
  std::vector<std::string> case_ids;  // instead of those that are chosen
  // The page becomes no larger: cases are stored as finely as fits.
  int64_t max_bytes = 4'900'000;
};

struct ReportResult {
  std::string html;      // the whole page: nothing else is needed to read it
  int64_t explored = 0;  // cases that can be looked at
  std::string missing;   // why there are none; empty: there are, or none were asked for
};

// The page of a study: verdict, warnings, tables, figures, cases, from the folder that `compare`
// has written. docs/report.md describes it.
SEGCAL_EXPORT ReportResult MakeReport(const std::string& folder, const ReportOptions& options = {});

}  // namespace segcal
