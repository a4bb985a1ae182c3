// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "segcal/tables.h"

namespace segcal::cli {

struct PrintOptions {
  // Text, with notes and the names of the files written, or markdown, latex or csv: the tables
  // alone, to be pasted.
  TableForm form = TableForm::kText;
  bool per_class = false;  // the table of classes too
};

// The form that --table names: "text", "markdown", "latex" or "csv".
TableForm ParseTableForm(const std::string& name);

// Prints the tables of an evaluation to standard output; `metrics` as in EvaluateOptions::families.
void PrintEvaluation(const EvaluateResult& result,
                     const std::vector<std::string>& metrics,
                     const PrintOptions& options,
                     const std::vector<std::string>& files);

}  // namespace segcal::cli
