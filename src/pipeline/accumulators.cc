// SPDX-License-Identifier: Apache-2.0
#include "pipeline/accumulators.h"

#include <algorithm>

#include "core/throw.h"

namespace segcal {
namespace {

std::string FamilyNames() {
  std::vector<std::string> known;
  known.reserve(Metrics().size());
  for (const MetricInfo* info : Metrics()) known.emplace_back(info->name);
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

}  // namespace

MetricSelection SelectMetrics(const EvaluateOptions& options) {
  for (const auto& [name, given] : options.metrics) CheckName("metric family", name, IsFamily);
  for (const std::string& name : options.families) {
    if (name != kAllMetrics) CheckName("metric or family", name, IsMeant);
  }
  MetricSelection selection;
  for (const MetricInfo* info : Metrics()) {
    if (!IsChosen(*info, options.families)) continue;
    const auto given = options.metrics.find(info->name);
    selection.push_back({info, given == options.metrics.end() ? OptionMap{} : given->second});
  }
  return selection;
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

std::vector<Aggregate> AggregatesOf(const MetricSelection& selection) {
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

std::vector<MetricResult> Accumulators::Finish() const {
  std::vector<MetricResult> results;
  for (const auto& family : families_) {
    for (MetricValue& value : family->Finish()) {
      results.push_back(
          {.name = value.name, .value = value.value, .per_class = std::move(value.per_class)});
    }
  }
  return results;
}

std::vector<ReliabilityDiagram> Accumulators::PooledBins() const {
  std::vector<ReliabilityDiagram> lists;
  for (const auto& family : families_) {
    for (const ReliabilityDiagram& diagram : family->PooledBins()) lists.push_back(diagram);
  }
  return lists;
}

std::vector<CellRow> Accumulators::Cells() const {
  std::vector<CellRow> rows;
  for (const auto& family : families_) {
    for (const CellRow& cell : family->Cells()) rows.push_back(cell);
  }
  return rows;
}

void Accumulators::FillDiagrams(PipelineMetrics* pipeline) const {
  for (const auto& family : families_) {
    for (const ReliabilityDiagram& diagram : family->Reliability()) {
      if (diagram.kind == "top_label") {
        pipeline->reliability = diagram.rows;
      } else if (diagram.class_index < 0) {
        pipeline->region_reliability.push_back(diagram);
      } else {
        pipeline->class_reliability.push_back(diagram);
      }
    }
    for (const RiskPoint& point : family->RiskCurve())
      pipeline->risk_coverage.push_back({point.coverage, point.risk, point.confidence});
    for (const PatchErrors& errors : family->PatchSweep()) {
      pipeline->patch_sweep.push_back(
          {errors.side, errors.ece_avg, errors.ece_max, errors.mce_avg, errors.mce_max});
    }
    const std::vector<int64_t> confusion = family->Confusion();
    if (!confusion.empty()) pipeline->confusion = confusion;
  }
}

}  // namespace segcal
