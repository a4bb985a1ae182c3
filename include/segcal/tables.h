// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "segcal/evaluate.h"
#include "segcal/export.h"

namespace segcal {

enum class Align { kLeft, kRight, kCenter };

// What a table is written for: a terminal, or a document to paste it into.
enum class TableForm { kText, kMarkdown, kLatex, kCsv };

// Which values of a column are good; shown as an arrow behind its header.
enum class Better { kNeither, kLower, kHigher };

struct TableColumn {
  std::string header;
  Align align = Align::kRight;
  Better better = Better::kNeither;
  std::string group = {};  // what it has in common with its neighbours, above their headers
};

// What is shown, and for numbers the value behind it.
struct TableCell {
  TableCell(const char* shown) : text(shown) {}             // NOLINT: rows are written as lists
  TableCell(std::string shown) : text(std::move(shown)) {}  // NOLINT: same
  TableCell(std::string shown, double number)
      : text(std::move(shown)), value(number), is_number(true) {}

  std::string text;
  std::string note = {};  // behind the text, never bold: an interval
  double value = std::numeric_limits<double>::quiet_NaN();
  bool is_number = false;
  bool bold = false;
};

// A number with fixed decimals; NaN, "undefined here", is shown as a dash.
SEGCAL_EXPORT TableCell NumberCell(double value, int decimals);

// Rows of cells under headers, printed in the form a reader needs.
class SEGCAL_EXPORT Table {
 public:
  explicit Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  // As many cells as columns, else an Error.
  void AddRow(std::vector<TableCell> cells);
  // A line between the rows before and after, where the form has one (text and LaTeX).
  void AddRule();
  // A line of text over the rows that follow; not in CSV.
  void AddHeading(std::string text);
  // Makes the best numbers of each column with a direction bold. Numbers that print like the best
  // one are equally good: a difference the reader cannot see should not decide.
  void BoldBest();

  // For terminals: aligned columns, no boxes. Bold needs escape sequences, so it is the caller's
  // choice.
  std::string ToText(bool with_bold = false) const;
  std::string ToMarkdown() const;
  // For programs: bare headers, numbers in the shortest form that reads back exactly and without
  // notes, undefined is empty.
  std::string ToCsv() const;
  // A tabular with the rules of the booktabs package.
  std::string ToLatex() const;
  // One of the above.
  std::string Render(TableForm form) const;

 private:
  // Columns that follow each other and belong together.
  struct ColumnGroup {
    std::string title;
    size_t first = 0;
    size_t count = 0;
  };

  void MarkBest(size_t column);
  std::vector<int64_t> ColumnWidths() const;
  bool HasRuleBefore(size_t row) const noexcept;
  const std::string* HeadingBefore(size_t row) const noexcept;  // null: none
  std::vector<ColumnGroup> ColumnGroups() const;                // empty: no column names one
  std::string GroupsText(const std::vector<int64_t>& widths) const;
  std::string GroupsLatex() const;

  std::vector<TableColumn> columns_;
  std::vector<std::vector<TableCell>> rows_;
  std::vector<size_t> rules_;               // ascending: a rule before this row
  std::map<size_t, std::string> headings_;  // before this row
};

// A metric as tables show it.
struct MetricColumn {
  std::string metric;
  std::string header;
  int decimals = 4;
  double factor = 1.0;  // 100 for percentages
};

// The pipelines as tables and pictures name them: without options, unless two would then be the
// same.
SEGCAL_EXPORT std::vector<std::string> ShownPipelines(const EvaluateResult& result);

// The columns for `names`, as in EvaluateOptions::families: a metric is itself, a family all of its
// metrics, as is a set ("s2"); none, or "all", is the choice of the main paper's tables and a
// little more.
SEGCAL_EXPORT std::vector<MetricColumn> MetricColumns(const EvaluateResult& result,
                                                      const std::vector<std::string>& names);

// One row per pipeline, the best values bold where there are several. `intervals`: behind every
// value, if the result has statistics.
SEGCAL_EXPORT Table MetricsTable(const EvaluateResult& result,
                                 const std::vector<MetricColumn>& columns,
                                 bool intervals);

// A row per metric and pipeline: the value and its interval, how it differs from the reference,
// with a star where that interval excludes zero, and the rank test. The result must have
// statistics.
SEGCAL_EXPORT Table StatisticsTable(const EvaluateResult& result,
                                    const std::vector<MetricColumn>& columns);

// A row per pair of StatisticsOptions::pairs and a column per metric: how the second differs from
// the first, its interval, a star where that excludes zero, and "=" where they are equal by
// construction.
SEGCAL_EXPORT Table PairTable(const Statistics& statistics,
                              const std::vector<MetricColumn>& columns);

// The sweep over sides of random patches, if it was computed: a row per pipeline and side.
SEGCAL_EXPORT bool HasPatchSweep(const EvaluateResult& result);
SEGCAL_EXPORT Table PatchTable(const EvaluateResult& result);

// Table 1 of the paper on local temperature scaling, if "s2" is among the names and all of it was
// computed: a row per error (ECE, MCE, SCE, ACE) and pipeline, a column per region, in percent.
SEGCAL_EXPORT bool HasRegionTable(const EvaluateResult& result,
                                  const std::vector<std::string>& names);
SEGCAL_EXPORT Table RegionTable(const EvaluateResult& result);
// MetricColumns without those that the table of regions shows, if there is one.
SEGCAL_EXPORT std::vector<MetricColumn> MainColumns(const EvaluateResult& result,
                                                    const std::vector<std::string>& names);

// A row per class, for each of the columns that has values of classes, and a column per pipeline,
// the best bold; with the number of labelled voxels.
SEGCAL_EXPORT bool HasClassTable(const EvaluateResult& result,
                                 const std::vector<MetricColumn>& columns);
SEGCAL_EXPORT Table ClassTable(const EvaluateResult& result,
                               const std::vector<MetricColumn>& columns);

// The result with its pipelines in the order of a metric, the best first and what is undefined
// last: for tables. A metric that was not computed, or has no best value, is an Error.
SEGCAL_EXPORT EvaluateResult SortedBy(const EvaluateResult& result, const std::string& metric);

// Sum-rank and mean-case-rank of every pipeline. The result must have statistics.
SEGCAL_EXPORT Table RankTable(const EvaluateResult& result);

// All of the above that the result has the numbers for, ready to be pasted; `names` as for
// MetricColumns, `per_class` for ClassTable too.
SEGCAL_EXPORT std::vector<Table> EvaluationTables(const EvaluateResult& result,
                                                  const std::vector<std::string>& names = {},
                                                  bool per_class = false);

}  // namespace segcal
