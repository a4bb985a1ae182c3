// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/forest.h"
#include "page/html.h"
#include "page/published.h"
#include "page/sections.h"

namespace segcal {
namespace {

constexpr const char* kNamedPairs = "Pairs that were named";

// Which side a difference that is one speaks for.
Finding SideOf(Goal goal, double difference) {
  return (difference < 0.0) == (goal != Goal::kHigh) ? Finding::kFavours : Finding::kAgainst;
}

Finding FindFinding(Goal goal, const MetricComparison& comparison) {
  if (comparison.equal_by_construction) return Finding::kEqual;
  if (goal == Goal::kNone || !ExcludesZero(comparison.difference)) return Finding::kNotSignificant;
  return SideOf(goal, comparison.difference.estimate);
}

std::vector<ForestMark> Published(const PairStatistics& pair, const MetricColumn& column) {
  std::vector<ForestMark> marks;
  for (const PublishedDifference& row : PublishedDifferences()) {
    if (pair.pair.first != row.first || pair.pair.second != row.second ||
        column.metric != row.metric)
      continue;
    const Goal goal = StudyView::FindGoal(column.metric);
    ForestMark mark{.label = row.dataset,
                    .estimate = row.estimate * column.factor,
                    .lower = row.lower * column.factor,
                    .upper = row.upper * column.factor};
    // As the paper marks it: its intervals are rounded.
    if (row.significant) mark.finding = SideOf(goal, row.estimate);
    marks.push_back(mark);
  }
  return marks;
}

const MetricComparison* FindComparison(const PairStatistics& pair, const std::string& metric) {
  for (const MetricComparison& comparison : pair.comparisons) {
    if (comparison.difference.metric == metric) return &comparison;
  }
  return nullptr;
}

const char* BetterSide(Goal goal) {
  if (goal == Goal::kHigh) return "higher is better";
  return goal == Goal::kLow ? "lower is better" : "neither side is better";
}

std::string FamilyOf(const PairStatistics& pair) {
  return pair.pair.family.empty() ? kNamedPairs : pair.pair.family;
}

Forest MakeForest(const StudyView& view,
                  const std::string& family,
                  const MetricColumn& column,
                  bool with_published) {
  const Goal goal = StudyView::FindGoal(column.metric);
  Forest forest{.title = fmt::format("{}: paired differences in {}", family, column.header),
                .metric = column.header,
                .better = BetterSide(goal),
                .decimals = column.decimals};
  for (const PairStatistics& pair : view.study().statistics.pairs) {
    const MetricComparison* comparison = FindComparison(pair, column.metric);
    if (FamilyOf(pair) != family || comparison == nullptr) continue;
    const MetricInterval& difference = comparison->difference;
    ForestRow row{.label = pair.pair.first + " → " + pair.pair.second,
                  .own = {.estimate = difference.estimate * column.factor,
                          .lower = difference.lower * column.factor,
                          .upper = difference.upper * column.factor,
                          .finding = FindFinding(goal, *comparison)}};
    if (with_published) row.published = Published(pair, column);
    forest.rows.push_back(std::move(row));
  }
  return forest;
}

std::vector<std::string> Families(const Study& study) {
  std::vector<std::string> families;
  for (const PairStatistics& pair : study.statistics.pairs) {
    if (std::find(families.begin(), families.end(), FamilyOf(pair)) == families.end())
      families.push_back(FamilyOf(pair));
  }
  return families;
}

// The metrics of the main table that pairs were compared by.
std::vector<MetricColumn> ComparedColumns(const StudyView& view) {
  std::vector<MetricColumn> columns;
  for (const MetricColumn& column : view.columns()) {
    const auto& pairs = view.study().statistics.pairs;
    const bool compared = std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
      return FindComparison(pair, column.metric) != nullptr;
    });
    if (compared) columns.push_back(column);
  }
  return columns;
}

std::vector<Choice> FamilyChoices(const std::vector<std::string>& families) {
  std::vector<Choice> choices;
  for (size_t f = 0; f < families.size(); ++f) choices.push_back({std::to_string(f), families[f]});
  return choices;
}

std::vector<Choice> ColumnChoices(const std::vector<MetricColumn>& columns) {
  std::vector<Choice> choices;
  choices.reserve(columns.size());
  for (const MetricColumn& column : columns) choices.push_back({column.metric, column.header});
  return choices;
}

void AddForests(const StudyView& view,
                const std::vector<std::string>& families,
                const std::vector<MetricColumn>& columns,
                FigureStore* store) {
  for (size_t f = 0; f < families.size(); ++f) {
    for (const MetricColumn& column : columns) {
      for (const bool published : {false, true}) {
        const Forest forest = MakeForest(view, families[f], column, published);
        if (forest.rows.empty()) continue;
        store->Add(fmt::format("{}|{}|{}", f, column.metric, published ? 1 : 0), ForestSvg(forest));
      }
    }
  }
}

}  // namespace

std::string MatchedSection(const StudyView& view) {
  const std::vector<std::string> families = Families(view.study());
  const std::vector<MetricColumn> columns = ComparedColumns(view);
  if (families.empty() || columns.empty()) return {};
  FigureStore store("store-matched");
  AddForests(view, families, columns, &store);
  const std::string tools =
      "<div class=\"tools\">\n" + ChoiceHtml("family", "family", FamilyChoices(families), "0") +
      ChoiceHtml("metric", "metric", ColumnChoices(columns), columns.front().metric) +
      "<label class=\"check\"><input type=\"checkbox\" data-choice=\"published\"> with the "
      "published differences</label>\n</div>\n";
  return PageSection(
      "matched",
      "Matched comparisons",
      Paragraph("Each pair differs in one thing. The second less the first, paired by case: an "
                "interval that excludes zero favours the second or speaks against it.") +
          "<div class=\"switch\">\n" + tools + "<figure>" +
          store.Slot("0|" + columns.front().metric + "|0", "{family}|{metric}|{published}") +
          "<figcaption>Published differences: Kirscher et al., Rethinking post-hoc calibration in "
          "semantic segmentation, 2026, Tables 9 and 10.</figcaption></figure>\n</div>\n" +
          store.ToHtml());
}

}  // namespace segcal
