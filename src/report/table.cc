// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/throw.h"
#include "report/table_cells.h"
#include "report/text.h"
#include "segcal/tables.h"

namespace segcal {
namespace {

std::string WithArrow(const TableColumn& column) {
  switch (column.better) {
    case Better::kLower:
      return CleanText(column.header) + " ↓";
    case Better::kHigher:
      return CleanText(column.header) + " ↑";
    case Better::kNeither:
      break;
  }
  return CleanText(column.header);
}

// `width` cells; `shown` may differ from `text` by escape sequences that take no room.
std::string Pad(const std::string& text, const std::string& shown, Align align, int64_t width) {
  const auto space = static_cast<size_t>(std::max<int64_t>(0, width - DisplayWidth(text)));
  const size_t left = align == Align::kLeft ? 0 : (align == Align::kRight ? space : space / 2);
  return std::string(left, ' ') + shown + std::string(space - left, ' ');
}

void AppendLine(const std::vector<std::string>& cells, std::string* out) {
  for (size_t i = 0; i < cells.size(); ++i) *out += (i == 0 ? "" : "  ") + cells[i];
  out->erase(out->find_last_not_of(' ') + 1);
  out->push_back('\n');
}

bool IsWordCharacter(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || byte >= 0x80;
}

std::string EscapeMarkdown(const std::string& raw) {
  constexpr std::string_view kSpecial = "\\|*`<[]~";
  const std::string text = CleanText(raw);
  std::string escaped;
  for (size_t i = 0; i < text.size(); ++i) {
    // An underscore inside a word is itself; elsewhere it starts or ends emphasis.
    const bool inside_word = i > 0 && i + 1 < text.size() && IsWordCharacter(text[i - 1]) &&
                             IsWordCharacter(text[i + 1]);
    const bool is_special =
        text[i] == '_' ? !inside_word : kSpecial.find(text[i]) != std::string_view::npos;
    if (is_special) escaped.push_back('\\');
    escaped.push_back(text[i]);
  }
  return escaped;
}

const char* MarkdownRule(Align align) noexcept {
  switch (align) {
    case Align::kLeft:
      return ":---";
    case Align::kRight:
      return "---:";
    case Align::kCenter:
      break;
  }
  return ":---:";
}

std::string MarkdownLine(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string EscapeCsv(const std::string& text) {
  const bool needs_quotes = text.find_first_of(",\"\r\n") != std::string::npos ||
                            (!text.empty() && (text.front() == ' ' || text.back() == ' '));
  if (!needs_quotes) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string CsvCell(const TableCell& cell) {
  if (!cell.is_number) return EscapeCsv(cell.text);
  return std::isnan(cell.value) ? std::string() : fmt::format("{}", cell.value);
}

// What LaTeX reads as a command, and the characters of ours that its standard fonts lack.
constexpr std::pair<std::string_view, std::string_view> kLatex[] = {
    {"\\", "\\textbackslash{}"},
    {"&", "\\&"},
    {"%", "\\%"},
    {"$", "\\$"},
    {"#", "\\#"},
    {"_", "\\_"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"},
    {"<", "\\textless{}"},
    {">", "\\textgreater{}"},
    {"[", "{[}"},  // behind \\ it would start an optional argument
    {"–", "--"},
    {"−", "$-$"},
    {"±", "$\\pm$"},
    {"×", "$\\times$"},
    {"∞", "$\\infty$"},
    {"→", "$\\rightarrow$"},
    {"↓", "$\\downarrow$"},
    {"↑", "$\\uparrow$"},
    {"…", "\\dots{}"}};

std::string EscapeLatex(const std::string& raw) {
  const std::string text = CleanText(raw);
  std::string escaped;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    NextCodePoint(text, &end);
    const std::string_view character = std::string_view(text).substr(i, end - i);
    const auto* found = std::find_if(std::begin(kLatex), std::end(kLatex), [&](const auto& entry) {
      return entry.first == character;
    });
    escaped += found == std::end(kLatex) ? character : found->second;
    i = end;
  }
  return escaped;
}

char LatexColumn(Align align) noexcept {
  return align == Align::kLeft ? 'l' : (align == Align::kRight ? 'r' : 'c');
}

std::string LatexLine(const std::vector<std::string>& cells) {
  return fmt::format("{} \\\\\n", fmt::join(cells, " & "));
}

// Of columns with two spaces between them.
int64_t GroupWidth(const std::vector<int64_t>& widths, size_t first, size_t count) {
  const auto begin = widths.begin() + static_cast<std::ptrdiff_t>(first);
  return std::accumulate(
      begin, begin + static_cast<std::ptrdiff_t>(count), 2 * (static_cast<int64_t>(count) - 1));
}

// Where there is no room for a line of groups above.
std::string WithGroup(const TableColumn& column, const std::string& header) {
  return column.group.empty() ? header : CleanText(column.group) + " " + header;
}

template <class Items, class Function>
std::vector<std::string> Map(const Items& items, Function function) {
  std::vector<std::string> mapped;
  mapped.reserve(items.size());
  for (const auto& item : items) mapped.push_back(function(item));
  return mapped;
}

}  // namespace

TableCell NumberCell(double value, int decimals) { return {FormatNumber(value, decimals), value}; }

void Table::AddRow(std::vector<TableCell> cells) {
  if (cells.size() != columns_.size()) {
    Throw(ErrorCode::kInvalidArgument,
          "table row: {} cells, the table has {} columns",
          cells.size(),
          columns_.size());
  }
  rows_.push_back(std::move(cells));
}

void Table::AddRule() {
  if (!rows_.empty() && !HasRuleBefore(rows_.size())) rules_.push_back(rows_.size());
}

void Table::AddHeading(std::string text) { headings_[rows_.size()] = std::move(text); }

bool Table::HasRuleBefore(size_t row) const noexcept {
  return std::binary_search(rules_.begin(), rules_.end(), row);
}

const std::string* Table::HeadingBefore(size_t row) const noexcept {
  const auto found = headings_.find(row);
  return found == headings_.end() ? nullptr : &found->second;
}

std::vector<Table::ColumnGroup> Table::ColumnGroups() const {
  std::vector<ColumnGroup> groups;
  bool named = false;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const std::string& title = columns_[i].group;
    named = named || !title.empty();
    if (!groups.empty() && groups.back().title == title) {
      ++groups.back().count;
    } else {
      groups.push_back({title, i, 1});
    }
  }
  return named ? groups : std::vector<ColumnGroup>{};
}

void Table::BoldBest() {
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].better != Better::kNeither) MarkBest(i);
  }
}

void Table::MarkBest(size_t column) {
  std::vector<TableCell*> cells;
  for (std::vector<TableCell>& row : rows_) cells.push_back(&row[column]);
  BoldBestCells(cells, columns_[column].better);
}

std::vector<int64_t> Table::ColumnWidths() const {
  std::vector<int64_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    int64_t width = DisplayWidth(WithArrow(columns_[i]));
    for (const auto& row : rows_)
      width = std::max(width, DisplayWidth(CleanText(row[i].text + row[i].note)));
    widths.push_back(width);
  }
  // A group that is wider than its columns widens the last of them.
  for (const ColumnGroup& group : ColumnGroups()) {
    const size_t last = group.first + group.count - 1;
    widths[last] += std::max<int64_t>(
        0, DisplayWidth(CleanText(group.title)) - GroupWidth(widths, group.first, group.count));
  }
  return widths;
}

// Each title over the middle of its columns.
std::string Table::GroupsText(const std::vector<int64_t>& widths) const {
  std::vector<std::string> cells;
  for (const ColumnGroup& group : ColumnGroups()) {
    const std::string title = CleanText(group.title);
    cells.push_back(
        Pad(title, title, Align::kCenter, GroupWidth(widths, group.first, group.count)));
  }
  std::string out;
  if (!cells.empty()) AppendLine(cells, &out);
  return out;
}

std::string Table::GroupsLatex() const {
  std::vector<std::string> titles;
  std::string rules;
  for (const ColumnGroup& group : ColumnGroups()) {
    titles.push_back(
        fmt::format("\\multicolumn{{{}}}{{c}}{{{}}}", group.count, EscapeLatex(group.title)));
    if (group.title.empty()) continue;
    rules += fmt::format("\\cmidrule(lr){{{}-{}}}\n", group.first + 1, group.first + group.count);
  }
  return titles.empty() ? "" : LatexLine(titles) + rules;
}

std::string Table::ToText(bool with_bold) const {
  const std::vector<int64_t> widths = ColumnWidths();
  std::vector<std::string> header;
  std::vector<std::string> rule;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const std::string text = WithArrow(columns_[i]);
    header.push_back(Pad(text, text, columns_[i].align, widths[i]));
    rule.emplace_back(static_cast<size_t>(widths[i]), '-');
  }
  std::string out = GroupsText(widths);
  AppendLine(header, &out);
  AppendLine(rule, &out);
  for (size_t r = 0; r < rows_.size(); ++r) {
    if (HasRuleBefore(r)) AppendLine(rule, &out);
    if (const std::string* heading = HeadingBefore(r)) AppendLine({CleanText(*heading)}, &out);
    std::vector<std::string> cells;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string text = CleanText(rows_[r][i].text);
      const std::string note = CleanText(rows_[r][i].note);
      const std::string shown = with_bold && rows_[r][i].bold ? "\x1b[1m" + text + "\x1b[0m" : text;
      cells.push_back(Pad(text + note, shown + note, columns_[i].align, widths[i]));
    }
    AppendLine(cells, &out);
  }
  return out;
}

std::string Table::ToMarkdown() const {
  std::string out = MarkdownLine(Map(columns_, [](const TableColumn& column) {
    return EscapeMarkdown(WithGroup(column, WithArrow(column)));
  }));
  out += MarkdownLine(Map(
      columns_, [](const TableColumn& column) { return std::string(MarkdownRule(column.align)); }));
  for (size_t r = 0; r < rows_.size(); ++r) {
    if (const std::string* heading = HeadingBefore(r)) {
      std::vector<std::string> line(columns_.size());
      line[0] = "*" + EscapeMarkdown(*heading) + "*";
      out += MarkdownLine(line);
    }
    out += MarkdownLine(Map(rows_[r], [](const TableCell& cell) {
      const std::string text = EscapeMarkdown(cell.text);
      return (cell.bold ? "**" + text + "**" : text) + EscapeMarkdown(cell.note);
    }));
  }
  return out;
}

std::string Table::ToCsv() const {
  const auto header = Map(columns_, [](const TableColumn& column) {
    return EscapeCsv(WithGroup(column, column.header));
  });
  std::string out = fmt::format("{}\n", fmt::join(header, ","));
  for (const auto& row : rows_) out += fmt::format("{}\n", fmt::join(Map(row, CsvCell), ","));
  return out;
}

std::string Table::ToLatex() const {
  std::string out = "\\begin{tabular}{";
  for (const TableColumn& column : columns_) out.push_back(LatexColumn(column.align));
  out += "}\n\\toprule\n" + GroupsLatex();
  out += LatexLine(
      Map(columns_, [](const TableColumn& column) { return EscapeLatex(WithArrow(column)); }));
  out += "\\midrule\n";
  for (size_t r = 0; r < rows_.size(); ++r) {
    if (HasRuleBefore(r)) out += "\\midrule\n";
    if (const std::string* heading = HeadingBefore(r)) {
      out += fmt::format("\\multicolumn{{{}}}{{l}}{{\\textit{{{}}}}} \\\\\n",
                         columns_.size(),
                         EscapeLatex(*heading));
    }
    out += LatexLine(Map(rows_[r], [](const TableCell& cell) {
      const std::string text = EscapeLatex(cell.text);
      return (cell.bold ? "\\textbf{" + text + "}" : text) + EscapeLatex(cell.note);
    }));
  }
  return out + "\\bottomrule\n\\end{tabular}\n";
}

std::string Table::Render(TableForm form) const {
  switch (form) {
    case TableForm::kMarkdown:
      return ToMarkdown();
    case TableForm::kLatex:
      return ToLatex();
    case TableForm::kCsv:
      return ToCsv();
    case TableForm::kText:
      break;
  }
  return ToText();
}

}  // namespace segcal
