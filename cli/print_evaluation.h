// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "segcal/tables.h"

namespace segcal::cli {

// Prints the tables of an evaluation to standard output; `metrics` as in EvaluateOptions::families.
// The form is text, with notes and the names of the files written, or markdown, latex or csv: the
// tables alone, to be pasted.
void PrintEvaluation(const EvaluateResult& result,
                     const std::vector<std::string>& metrics,
                     TableForm form,
                     const std::vector<std::string>& files);

}  // namespace segcal::cli
