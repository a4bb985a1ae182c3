// SPDX-License-Identifier: Apache-2.0
#include "pipeline/accumulators.h"

#include <algorithm>

#include "core/throw.h"
#include "pipeline/metric_sets.h"

namespace segcal {
namespace {

// "scores (nll, brier), overlap (dsc, miou)".
std::string FamilyNames() {
  std::vector<std::string> known;
  known.reserve(Metrics().size());
  for (const MetricInfo* info : Metrics()) {
    std::vector<std::string> numbers;
    for (const MetricNumber& number : info->numbers) numbers.emplace_back(number.name);
    known.push_back(fmt::format("{} ({})", info->name, fmt::join(numbers, ", ")));
  }
  return fmt::format("{}", fmt::join(known, ", "));
}

// Whether a family is meant by its own name.
bool IsFamily(const MetricInfo& info, const std::string& name) { return name == info.name; }

// Whether a family is meant, by its own name or that of one of its numbers.
bool IsMeant(const MetricInfo& info, const std::string& name) {
  return IsFamily(info, name) ||
         std::any_of(info.numbers.begin(), info.numbers.end(), [&](const MetricNumber& number) {
           return name == number.name;
         });
}

// The name must mean a family; `what` says what the name is of.
template <class Meant>
void CheckName(const char* what, const std::string& name, const Meant& meant) {
  const auto& infos = Metrics();
  if (std::any_of(
          infos.begin(), infos.end(), [&](const MetricInfo* info) { return meant(*info, name); }))
    return;
  Throw(
      ErrorCode::kInvalidArgument, "unknown {} \"{}\"; families are {}", what, name, FamilyNames());
}

bool IsChosen(const MetricInfo& info, const std::vector<std::string>& names) {
  if (names.empty()) return !info.on_request;
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name == kAllMetrics || IsMeant(info, name);
  });
}

// The metrics of sets in the place of their names, with their options unless others are given.
EvaluateOptions WithSets(const EvaluateOptions& given) {
  EvaluateOptions options = given;
  options.families.clear();
  for (const std::string& name : given.families) {
    const MetricSet* set = FindMetricSet(name);
    if (set == nullptr) {
      options.families.push_back(name);
      continue;
    }
    options.families.insert(options.families.end(), set->metrics.begin(), set->metrics.end());
    for (const auto& [family, more] : set->options)
      options.metrics[family].insert(more.begin(), more.end());
  }
  return options;
}

template <class T>
void Append(std::vector<T> more, std::vector<T>* all) {
  std::move(more.begin(), more.end(), std::back_inserter(*all));
}

// The lists of all families, one after the other.
template <class ListOf>
auto Collected(const std::vector<std::unique_ptr<MetricAccumulator>>& families, ListOf list_of) {
  decltype(list_of(*families.front())) all;
  for (const auto& family : families) Append(list_of(*family), &all);
  return all;
}

// The order of diagrams: reliability of all voxels, of regions, of classes, then other kinds.
enum DiagramRank { kTopLabel, kRegion, kClass, kOtherKind };

DiagramRank RankDiagram(const Diagram& diagram) {
  if (diagram.kind != DiagramKind::kReliability) return kOtherKind;
  if (diagram.class_index >= 0) return kClass;
  return diagram.about == "top_label" ? kTopLabel : kRegion;
}

void EraseEmptyBins(Diagram* diagram) {
  const auto count = std::find_if(
      diagram->columns.begin(), diagram->columns.end(), [](const DiagramColumn& column) {
        return column.name == "count";
      });
  const auto place = static_cast<size_t>(count - diagram->columns.begin());
  std::erase_if(diagram->rows, [&](const std::vector<double>& row) { return row[place] == 0.0; });
}

}  // namespace

MetricSelection SelectMetrics(const EvaluateOptions& given_options) {
  for (const auto& [name, given] : given_options.metrics)
    CheckName("metric family", name, IsFamily);
  for (const std::string& name : given_options.families) {
    if (name != kAllMetrics && FindMetricSet(name) == nullptr)
      CheckName("metric or family", name, IsMeant);
  }
  const EvaluateOptions options = WithSets(given_options);
  MetricSelection selection;
  for (const MetricInfo* info : Metrics()) {
    const auto given = options.metrics.find(info->name);
    const bool has_options = given != options.metrics.end();
    // Options of what is not computed are checked too.
    if (has_options) info->make({.num_classes = 1}, given->second);
    if (!IsChosen(*info, options.families)) continue;
    selection.push_back({info, has_options ? given->second : OptionMap{}});
  }
  return selection;
}

std::vector<std::string> SelectedFamilies(const EvaluateOptions& options) {
  std::vector<std::string> names;
  for (const SelectedFamily& family : SelectMetrics(options)) names.emplace_back(family.info->name);
  return names;
}

bool NeedsFreeEnergy(const MetricSelection& selection) {
  return std::any_of(selection.begin(), selection.end(), [](const SelectedFamily& family) {
    return family.info->needs_free_energy;
  });
}

bool NeedsDistance(const MetricSelection& selection) {
  return std::any_of(selection.begin(), selection.end(), [](const SelectedFamily& family) {
    return family.info->needs_distance;
  });
}

bool NeedsLengths(const MetricSelection& selection) {
  return std::any_of(selection.begin(), selection.end(), [](const SelectedFamily& family) {
    return family.info->needs_lengths != nullptr && family.info->needs_lengths(family.options);
  });
}

int64_t BytesPerVoxel(const MetricSelection& selection, int64_t num_classes) {
  int64_t bytes = 0;
  for (const SelectedFamily& family : selection) {
    if (family.info->bytes_per_voxel != nullptr) bytes += family.info->bytes_per_voxel(num_classes);
  }
  return bytes;
}

std::vector<Aggregate> ListAggregates(const MetricSelection& selection) {
  std::vector<Aggregate> aggregates;
  for (const SelectedFamily& family : selection) {
    for (const MetricNumber& number : family.info->numbers) aggregates.push_back(number.aggregate);
  }
  return aggregates;
}

Accumulators::Accumulators(const MetricContext& context, const MetricSelection& selection) {
  for (const SelectedFamily& family : selection)
    families_.push_back(family.info->make(context, family.options));
}

void Accumulators::Add(const EvalTile& tile) {
  for (const auto& family : families_) family->Add(tile);
}

void Accumulators::Flush() {
  for (const auto& family : families_) family->Flush();
}

void Accumulators::Merge(const Accumulators& other) {
  for (size_t f = 0; f < families_.size(); ++f) families_[f]->Merge(*other.families_[f]);
}

void Accumulators::MergeCase(const Accumulators& whole_case) {
  for (size_t f = 0; f < families_.size(); ++f) families_[f]->MergeCase(*whole_case.families_[f]);
}

void Accumulators::Complete() {
  for (const auto& family : families_) family->Complete();
}

std::vector<MetricValue> Accumulators::Finish() const {
  return Collected(families_, [](const MetricAccumulator& f) { return f.Finish(); });
}

std::vector<Diagram> Accumulators::PooledBins() const {
  return Collected(families_, [](const MetricAccumulator& f) { return f.PooledBins(); });
}

std::vector<CellRow> Accumulators::Cells() const {
  return Collected(families_, [](const MetricAccumulator& f) { return f.Cells(); });
}

std::vector<Diagram> Accumulators::Diagrams() const {
  std::vector<Diagram> diagrams =
      Collected(families_, [](const MetricAccumulator& f) { return f.Diagrams(); });
  for (Diagram& diagram : diagrams) {
    const DiagramRank rank = RankDiagram(diagram);
    if (rank == kRegion || rank == kClass) EraseEmptyBins(&diagram);
  }
  std::erase_if(diagrams, [](const Diagram& diagram) {
    return RankDiagram(diagram) == kOtherKind && diagram.rows.empty();
  });
  std::stable_sort(diagrams.begin(), diagrams.end(), [](const Diagram& a, const Diagram& b) {
    return std::pair(RankDiagram(a), a.kind) < std::pair(RankDiagram(b), b.kind);
  });
  return diagrams;
}

}  // namespace segcal
