// SPDX-License-Identifier: Apache-2.0
#include "segcal/study_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "report/region_table.h"
#include "report/study_results_table.h"
#include "segcal/files.h"

namespace segcal {
namespace {

TableColumn TextColumn(const char* header) { return {header, Align::kLeft, Better::kNeither}; }
TableColumn PlainColumn(const std::string& header) {
  return {header, Align::kRight, Better::kNeither};
}

std::string Checked(bool yes) { return yes ? "yes" : "no"; }

// As the main paper's Table 2.
Table PropertiesTable(const Study& study) {
  Table table({TextColumn("pipeline"),
               {"TI", Align::kCenter, Better::kNeither},
               TextColumn("keeps"),
               PlainColumn("optimised"),
               PlainColumn("identifiable")});
  for (const StudyPipeline& pipeline : study.pipelines) {
    table.AddRow({pipeline.pipeline,
                  Checked(pipeline.properties.translation_invariant),
                  Name(pipeline.properties.preserves),
                  NumberCell(static_cast<double>(pipeline.parameters.optimised), 0),
                  NumberCell(static_cast<double>(pipeline.parameters.identifiable), 0)});
  }
  return table;
}

// As its Tables 3 and 5: by ensemble size, all members last.
Table FreeEnergyTable(const Study& study) {
  Table table({PlainColumn("members"),
               PlainColumn("cases"),
               PlainColumn("mean Std F"),
               PlainColumn("p25"),
               PlainColumn("p50"),
               PlainColumn("p75")});
  for (const FreeEnergySpread& spread : study.data.free_energy) {
    table.AddRow({NumberCell(static_cast<double>(spread.members), 0),
                  NumberCell(static_cast<double>(spread.cases), 0),
                  NumberCell(spread.mean, 2),
                  NumberCell(spread.quartiles[0], 2),
                  NumberCell(spread.quartiles[1], 2),
                  NumberCell(spread.quartiles[2], 2)});
  }
  return table;
}

Table AuditTable(const Study& study) {
  Table table({TextColumn("pipeline"),
               {"flips %", Align::kRight, Better::kLower},
               PlainColumn("harmful %"),
               PlainColumn("beneficial %"),
               PlainColumn("neutral %"),
               PlainColumn("harmful, % of flips")});
  for (size_t p = 0; p < study.flips.size(); ++p) {
    const FlipAudit& audit = study.flips[p];
    if (study.pipelines[p].properties.preserves != Preserves::kNone) continue;
    table.AddRow(
        {audit.pipeline,
         NumberCell(audit.flips, 3),
         NumberCell(audit.harmful, 3),
         NumberCell(audit.beneficial, 3),
         NumberCell(audit.neutral, 3),
         NumberCell(audit.flips > 0.0 ? 100.0 * audit.harmful / audit.flips : std::nan(""), 1)});
  }
  return table;
}

// Ranks and the pair table want a result with statistics.
EvaluateResult WithStatistics(const Study& study) {
  EvaluateResult result = study.repeats.front().result;
  result.statistics = study.statistics;
  return result;
}

struct MeanSpread {
  double mean = 0.0;
  double deviation = 0.0;
};

// Over the cases of all repeats.
MeanSpread CaseSpread(const Study& study, size_t pipeline, const std::string& metric) {
  double sum = 0.0;
  double squares = 0.0;
  double count = 0.0;
  for (const StudyRepeat& repeat : study.repeats) {
    for (const CaseMetrics& c : repeat.result.pipelines[pipeline].cases) {
      const double value = FindValue(c.metrics, metric);
      if (std::isnan(value)) continue;
      sum += value;
      squares += value * value;
      count += 1.0;
    }
  }
  const double mean = sum / count;
  return {mean,
          count > 1.0
              ? std::sqrt(std::max(0.0, squares / count - mean * mean) * count / (count - 1.0))
              : std::nan("")};
}

// Mean (standard deviation) over cases, in per cent.
TableCell RegionCell(const Study& study, size_t pipeline, const std::string& metric) {
  const MeanSpread spread = CaseSpread(study, pipeline, metric);
  TableCell cell = NumberCell(100.0 * spread.mean, 2);
  cell.note = fmt::format(" ({:.2f})", 100.0 * spread.deviation);
  return cell;
}

// As S2's Table 1: those errors that were measured, by region.
Table RegionTable(const Study& study) {
  const std::vector<MetricValue>& measured = study.repeats.front().result.pipelines.front().mean;
  std::vector<TableColumn> columns = {TextColumn("pipeline")};
  std::vector<std::string> metrics;
  for (const TitledRow& error : kRegionErrors) {
    for (const TitledRow& region : kRegionColumns) {
      const std::string metric = RegionMetric(error, region);
      if (FindMetric(measured, metric) == nullptr) continue;
      metrics.push_back(metric);
      columns.push_back(
          {region.title, Align::kRight, Better::kLower, std::string(error.title) + " %"});
    }
  }
  Table table(columns);
  const std::vector<std::string> names = ShownPipelines(study.repeats.front().result);
  for (size_t p = 0; p < study.pipelines.size(); ++p) {
    std::vector<TableCell> row = {names[p]};
    for (const std::string& metric : metrics) row.push_back(RegionCell(study, p, metric));
    table.AddRow(std::move(row));
  }
  table.BoldBest();
  return table;
}

// A row per pipeline and value of what is varied.
Table SensitivityTable(const Study& study, Sensitivity about) {
  std::vector<std::string> metrics;
  for (const SensitivityPoint& point : study.sensitivity) {
    if (point.about != about) continue;
    for (const MetricInterval& interval : point.intervals) {
      if (std::find(metrics.begin(), metrics.end(), interval.metric) == metrics.end())
        metrics.push_back(interval.metric);
    }
  }
  std::vector<TableColumn> columns = {TextColumn("pipeline"), PlainColumn(Name(about))};
  for (const std::string& metric : metrics) columns.push_back(PlainColumn(metric));
  Table table(columns);
  for (const StudyPipeline& pipeline : study.pipelines) {
    for (const SensitivityPoint& point : study.sensitivity) {
      if (point.about != about || point.pipeline != pipeline.pipeline) continue;
      std::vector<TableCell> row = {pipeline.pipeline, NumberCell(point.value, 0)};
      for (const std::string& metric : metrics) {
        TableCell cell = NumberCell(std::nan(""), 4);
        for (const MetricInterval& interval : point.intervals) {
          if (interval.metric != metric) continue;
          cell = NumberCell(interval.estimate, 4);
          cell.note = fmt::format(" [{:.4f}, {:.4f}]", interval.lower, interval.upper);
        }
        row.push_back(std::move(cell));
      }
      table.AddRow(std::move(row));
    }
  }
  return table;
}

// The same study, its results replaced by those of the shifted data.
Study ShiftedStudy(const Study& study, const StudyShift& shift) {
  Study shifted = study;
  shifted.statistics = shift.statistics;
  for (size_t r = 0; r < shifted.repeats.size(); ++r) shifted.repeats[r].result = shift.repeats[r];
  return shifted;
}

// As Table 7: every shift side by side, behind the test cases.
Table ShiftsTable(const Study& study, const std::vector<Study>& shifted) {
  std::vector<TitledStudy> parts = {{"test cases", &study}};
  for (size_t s = 0; s < shifted.size(); ++s) parts.push_back({study.shifts[s].name, &shifted[s]});
  return ResultsSideBySide(parts, false);
}

Table CandidateTable(const Study& study) {
  const Recommendation& found = study.recommendation;
  Table table({TextColumn("pipeline"),
               {"validation " + found.score, Align::kRight, Better::kLower},
               PlainColumn("less the best"),
               PlainColumn("standard error"),
               PlainColumn("identifiable"),
               TextColumn("within one"),
               TextColumn("not a candidate because it")});
  for (size_t p = 0; p < found.candidates.size(); ++p) {
    const Candidate& candidate = found.candidates[p];
    const bool chosen = candidate.pipeline == found.pipeline;
    table.AddRow({chosen ? candidate.pipeline + " (recommended)" : candidate.pipeline,
                  NumberCell(candidate.score, 4),
                  NumberCell(candidate.difference, 5),
                  NumberCell(candidate.standard_error, 5),
                  NumberCell(static_cast<double>(study.pipelines[p].parameters.identifiable), 0),
                  Checked(candidate.within),
                  candidate.excluded});
  }
  return table;
}

}  // namespace

std::vector<NamedTable> StudyTables(const Study& study) {
  const EvaluateResult result = WithStatistics(study);
  const std::vector<MetricColumn> columns = MetricColumns(result, {});
  std::vector<NamedTable> tables;
  const auto add = [&](std::string name, const char* title, Table table) {
    tables.push_back({std::move(name), title, std::move(table)});
  };
  add("results", "Calibration and segmentation on the test cases", ResultsTable(study));
  add("results_intervals",
      "The same with intervals; pooled metrics with [min, max] over repeats",
      ResultsTable(study, true));
  add("candidates",
      "What the recommendation was chosen from, on the validation cases",
      CandidateTable(study));
  if (!study.statistics.pairs.empty())
    add("pairs",
        "Matched pairs: second less first, paired by case",
        PairTable(study.statistics, columns));
  add("properties", "What pipelines guarantee, and their parameters", PropertiesTable(study));
  add("free_energy", "Spatial spread of the free energy by ensemble size", FreeEnergyTable(study));
  add("ranks", "Sum of ranks and mean rank over cases", RankTable(result));
  add("flips",
      "Voxels whose class changes, per cent of the labelled test voxels",
      AuditTable(study));
  if (FindMetric(result.pipelines.front().mean, "ece_all") != nullptr)
    add("regions", "Errors by region, mean (standard deviation) over cases", RegionTable(study));
  if (HasPatchSweep(result))
    add("patches", "Errors of random patches by their side", PatchTable(result));
  for (const Sensitivity about : {Sensitivity::kCalibrationCases,
                                  Sensitivity::kEceBins,
                                  Sensitivity::kAceBins,
                                  Sensitivity::kMembers}) {
    const bool any = std::any_of(study.sensitivity.begin(),
                                 study.sensitivity.end(),
                                 [&](const SensitivityPoint& p) { return p.about == about; });
    if (any)
      add(fmt::format("sensitivity_{}", Name(about)),
          "Sensitivity of the results",
          SensitivityTable(study, about));
  }
  std::vector<Study> shifted;
  for (const StudyShift& shift : study.shifts) shifted.push_back(ShiftedStudy(study, shift));
  if (!shifted.empty())
    add("shifts",
        "The same models on the test cases and on shifted data",
        ShiftsTable(study, shifted));
  for (size_t s = 0; s < shifted.size(); ++s) {
    const StudyShift& shift = study.shifts[s];
    add("shift_" + shift.name, "The same models on shifted data", ResultsTable(shifted[s], true));
    if (!shift.statistics.pairs.empty())
      add("shift_" + shift.name + "_pairs",
          "Matched pairs on shifted data",
          PairTable(shift.statistics, columns));
  }
  return tables;
}

void WriteStudy(const std::string& folder, const Study& study) {
  const std::filesystem::path root(folder);
  CreateFolder((root / "tables").string());
  for (const NamedTable& table : StudyTables(study)) {
    const auto write = [&](const char* extension, const std::string& text) {
      WriteText((root / "tables" / (table.name + extension)).string(), text);
    };
    write(".md", fmt::format("{}\n\n{}", table.title, table.table.ToMarkdown()));
    write(".tex", table.table.ToLatex());
    write(".csv", table.table.ToCsv());
  }
  WriteText((root / "cases.csv").string(), CasesCsv(study));
  WriteText((root / "study.json").string(), ToJson(study));
}

}  // namespace segcal
