// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "segcal/evaluate.h"
#include "segcal/files.h"

namespace segcal::cli {

// What becomes of the metrics, whoever has computed or merged them.
struct EvaluationOutput {
  std::string output;
  std::string csv;
  std::string cells;
  std::string table = "text";
  std::string sort;
  bool per_class = false;
  bool statistics = false;
  StatisticsOptions statistics_options;
  bool force = false;
  bool json = false;
};

// Adds their options and returns them, but for --force.
std::vector<CLI::Option*> AddEvaluationOutput(CLI::App& app, EvaluationOutput* out);

// Before the work: files, and what tables are sorted by, which must be computed.
void CheckTables(const EvaluationOutput& out, OutputCheck* check);
void CheckSort(const std::string& metric, const EvaluateOptions& options);

// If asked for: from the values of cases, by the metrics of the table, `families` as in
// EvaluateOptions.
void AddStatistics(const EvaluationOutput& out,
                   const std::vector<std::string>& families,
                   const RunOptions& run,
                   EvaluateResult* result);

// What a person should know, on standard error.
void ReportEvaluation(const EvaluateResult& result);

// Writes the files that were asked for and returns their names.
std::vector<std::string> WriteTables(const EvaluationOutput& out, const EvaluateResult& result);

// To standard output: tables and the names of files, or JSON.
void ShowEvaluation(const EvaluationOutput& out,
                    const EvaluateResult& result,
                    const std::vector<std::string>& families,
                    const std::vector<std::string>& files);

}  // namespace segcal::cli
