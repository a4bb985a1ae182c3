// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "segcal/error.h"
#include "segcal/tables.h"

namespace segcal {
namespace {

Table Results() {
  Table table({{"pipeline", Align::kLeft},
               {"NLL", Align::kRight, Better::kLower},
               {"accuracy", Align::kRight, Better::kHigher}});
  table.AddRow({"none(z)", NumberCell(0.4, 3), NumberCell(0.9, 2)});
  table.AddRule();
  table.AddRow({"ts(λ)", NumberCell(0.31, 3), NumberCell(0.9001, 2)});
  table.AddRow({"道路", NumberCell(std::nan(""), 3), NumberCell(0.8, 2)});
  return table;
}

Table Grouped() {
  Table table({{"pipeline", Align::kLeft},
               {"NLL", Align::kRight, Better::kLower, "mild"},
               {"ECE", Align::kRight, Better::kLower, "mild"},
               {"NLL", Align::kRight, Better::kLower, "strong & wet"}});
  table.AddRule();
  table.AddHeading("(a) before_all");
  table.AddRow({"none(z)", NumberCell(0.4, 1), NumberCell(0.1, 1), NumberCell(0.5, 1)});
  table.AddRule();
  table.AddHeading("(b) after");
  table.AddRow({"ts(z)", NumberCell(0.3, 1), NumberCell(0.2, 1), NumberCell(0.6, 1)});
  return table;
}

TEST(TableText, PutsGroupsOverTheirColumnsAndHeadingsOverTheirRows) {
  EXPECT_EQ(Grouped().ToText(),
            "              mild      strong & wet\n"
            "pipeline  NLL ↓  ECE ↓         NLL ↓\n"
            "--------  -----  -----  ------------\n"
            "(a) before_all\n"
            "none(z)     0.4    0.1           0.5\n"
            "--------  -----  -----  ------------\n"
            "(b) after\n"
            "ts(z)       0.3    0.2           0.6\n");
}

TEST(TableMarkdown, NamesGroupsInEveryHeader) {
  EXPECT_EQ(Grouped().ToMarkdown(),
            "| pipeline | mild NLL ↓ | mild ECE ↓ | strong & wet NLL ↓ |\n"
            "| :--- | ---: | ---: | ---: |\n"
            "| *(a) before_all* |  |  |  |\n"
            "| none(z) | 0.4 | 0.1 | 0.5 |\n"
            "| *(b) after* |  |  |  |\n"
            "| ts(z) | 0.3 | 0.2 | 0.6 |\n");
}

TEST(TableCsv, LeavesHeadingsOut) {
  EXPECT_EQ(Grouped().ToCsv(),
            "pipeline,mild NLL,mild ECE,strong & wet NLL\n"
            "none(z),0.4,0.1,0.5\nts(z),0.3,0.2,0.6\n");
}

TEST(TableLatex, SpansGroupsAndHeadings) {
  EXPECT_EQ(
      Grouped().ToLatex(),
      "\\begin{tabular}{lrrr}\n"
      "\\toprule\n"
      "\\multicolumn{1}{c}{} & \\multicolumn{2}{c}{mild} & \\multicolumn{1}{c}{strong \\& wet} "
      "\\\\\n"
      "\\cmidrule(lr){2-3}\n"
      "\\cmidrule(lr){4-4}\n"
      "pipeline & NLL $\\downarrow$ & ECE $\\downarrow$ & NLL $\\downarrow$ \\\\\n"
      "\\midrule\n"
      "\\multicolumn{4}{l}{\\textit{(a) before\\_all}} \\\\\n"
      "none(z) & 0.4 & 0.1 & 0.5 \\\\\n"
      "\\midrule\n"
      "\\multicolumn{4}{l}{\\textit{(b) after}} \\\\\n"
      "ts(z) & 0.3 & 0.2 & 0.6 \\\\\n"
      "\\bottomrule\n"
      "\\end{tabular}\n");
}

TEST(TableText, AlignsColumnsByDisplayWidth) {
  EXPECT_EQ(Results().ToText(),
            "pipeline  NLL ↓  accuracy ↑\n"
            "--------  -----  ----------\n"
            "none(z)   0.400        0.90\n"
            "--------  -----  ----------\n"
            "ts(λ)     0.310        0.90\n"
            "道路          –        0.80\n");
}

TEST(TableText, CentersAndLeavesNoSpaceAtLineEnds) {
  Table table({{"wide header", Align::kCenter}, {"last", Align::kLeft}});
  table.AddRow({"x", "y"});
  EXPECT_EQ(table.ToText(), "wide header  last\n-----------  ----\n     x       y\n");
}

TEST(TableText, BoldTakesNoRoomAndIsOptional) {
  Table table = Results();
  table.BoldBest();
  EXPECT_EQ(table.ToText(), Results().ToText());
  EXPECT_NE(table.ToText(true).find("ts(λ)     \x1b[1m0.310\x1b[0m        \x1b[1m0.90\x1b[0m\n"),
            std::string::npos);
}

TEST(TableText, NeutralisesControlCharactersOfNames) {
  Table table({{"class", Align::kLeft}});
  table.AddRow({"a\x1b[2J\nb"});
  EXPECT_EQ(table.ToText(), "class\n-------\na [2J b\n");
}

TEST(Table, BoldsEveryNumberThatPrintsLikeTheBest) {
  Table table = Results();
  table.BoldBest();
  EXPECT_EQ(table.ToMarkdown(),
            "| pipeline | NLL ↓ | accuracy ↑ |\n"
            "| :--- | ---: | ---: |\n"
            "| none(z) | 0.400 | **0.90** |\n"
            "| ts(λ) | **0.310** | **0.90** |\n"
            "| 道路 | – | 0.80 |\n");
}

TEST(Table, RefusesARowOfAnotherLength) {
  Table table({{"a"}, {"b"}});
  EXPECT_THROW(table.AddRow({"only one"}), Error);
}

TEST(Table, DrawsNoRuleBeforeTheFirstRowOrTwice) {
  Table table({{"a"}});
  table.AddRule();
  table.AddRow({"1"});
  table.AddRule();
  table.AddRule();
  table.AddRow({"2"});
  EXPECT_EQ(table.ToText(), "a\n-\n1\n-\n2\n");
}

TEST(TableMarkdown, EscapesWhatWouldBeMarkup) {
  Table table({{"a|b", Align::kCenter}});
  table.AddRow({"*x* <b> `c` \\"});
  table.AddRow({"cms_ap(p)"});
  table.AddRow({"_private_\nline"});
  EXPECT_EQ(table.ToMarkdown(),
            "| a\\|b |\n"
            "| :---: |\n"
            "| \\*x\\* \\<b> \\`c\\` \\\\ |\n"
            "| cms_ap(p) |\n"
            "| \\_private\\_ line |\n");
}

TEST(TableCsv, WritesExactNumbersAndQuotesText) {
  Table table({{"name", Align::kLeft}, {"NLL", Align::kRight, Better::kLower}});
  table.AddRow({"say \"a, b\"", NumberCell(0.1 + 0.2, 2)});
  table.AddRow({"two\nlines", NumberCell(std::nan(""), 2)});
  table.AddRow({" padded", NumberCell(5.0, 2)});
  EXPECT_EQ(table.ToCsv(),
            "name,NLL\n"
            "\"say \"\"a, b\"\"\",0.30000000000000004\n"
            "\"two\nlines\",\n"
            "\" padded\",5\n");
}

TEST(TableLatex, EscapesCommandsAndTranslatesSigns) {
  Table table(
      {{"x_1 & 50%", Align::kLeft}, {"NLL", Align::kRight, Better::kLower}, {"c", Align::kCenter}});
  table.AddRow({"a\\b{c}~^#$", "0.1 ± 0.2", "[0, 1]"});
  table.AddRule();
  table.AddRow({"é", NumberCell(std::nan(""), 2), NumberCell(1.0, 1)});
  EXPECT_EQ(
      table.ToLatex(),
      "\\begin{tabular}{lrc}\n"
      "\\toprule\n"
      "x\\_1 \\& 50\\% & NLL $\\downarrow$ & c \\\\\n"
      "\\midrule\n"
      "a\\textbackslash{}b\\{c\\}\\textasciitilde{}\\textasciicircum{}\\#\\$ & 0.1 $\\pm$ 0.2 & "
      "{[}0, 1] \\\\\n"
      "\\midrule\n"
      "é & -- & 1.0 \\\\\n"
      "\\bottomrule\n"
      "\\end{tabular}\n");
}

TEST(TableLatex, SetsBestInBold) {
  Table table = Results();
  table.BoldBest();
  EXPECT_NE(table.ToLatex().find("\\textbf{0.310} & \\textbf{0.90} \\\\"), std::string::npos);
}

TEST(Table, RendersEveryForm) {
  Table table({{.header = "a"}});
  table.AddRow({NumberCell(0.5, 2)});
  EXPECT_EQ(table.Render(TableForm::kText), table.ToText());
  EXPECT_EQ(table.Render(TableForm::kMarkdown), table.ToMarkdown());
  EXPECT_EQ(table.Render(TableForm::kLatex), table.ToLatex());
  EXPECT_EQ(table.Render(TableForm::kCsv), table.ToCsv());
}

}  // namespace
}  // namespace segcal
