// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace segcal {

enum class Align { kLeft, kRight, kCenter };

// Which values of a column are good; shown as an arrow behind its header.
enum class Better { kNeither, kLower, kHigher };

struct TableColumn {
  std::string header;
  Align align = Align::kRight;
  Better better = Better::kNeither;
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
TableCell NumberCell(double value, int decimals);

// Rows of cells under headers, printed in the form a reader needs.
class Table {
 public:
  explicit Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  // As many cells as columns, else an Error.
  void AddRow(std::vector<TableCell> cells);
  // A line between the rows before and after, where the form has one (text and LaTeX).
  void AddRule();
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

 private:
  void MarkBest(size_t column);
  std::vector<int64_t> ColumnWidths() const;
  bool HasRuleBefore(size_t row) const noexcept;

  std::vector<TableColumn> columns_;
  std::vector<std::vector<TableCell>> rows_;
  std::vector<size_t> rules_;  // ascending: a rule before this row
};

}  // namespace segcal
