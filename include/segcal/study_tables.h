// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "segcal/export.h"
#include "segcal/study.h"
#include "segcal/tables.h"

namespace segcal {

// A table of a study and what its files are called.
struct NamedTable {
  std::string name;   // "results"
  std::string title;  // one line for a reader
  Table table;
};

// The metrics of the main paper's table, a row per pipeline in its blocks, best values bold. With
// `intervals`: the bootstrap interval behind every value, and [min, max] over repeats behind pooled
// ones.
SEGCAL_EXPORT Table ResultsTable(const Study& study, bool intervals = false);

// All that the study has the numbers for: properties, free energy, results, matched pairs, ranks,
// flips, regions, sensitivity, shifts, candidates.
SEGCAL_EXPORT std::vector<NamedTable> StudyTables(const Study& study);

// study.json, cases.csv and tables/<name>.md, .tex and .csv into a folder, which is made.
SEGCAL_EXPORT void WriteStudy(const std::string& folder, const Study& study);

}  // namespace segcal
