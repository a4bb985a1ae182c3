// SPDX-License-Identifier: Apache-2.0
#include "report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/throw.h"
#include "formats/array.h"
#include "metrics/metric.h"
#include "pipeline/spec.h"
#include "report/case_picture.h"
#include "report/colorize.h"
#include "report/field_picture.h"
#include "report/panels.h"
#include "report/reliability.h"
#include "report/table.h"

namespace segcal {
namespace {

struct TableMetric {
  const char* name;
  const char* header;
  int decimals;
  double factor;
};

// Columns of the main paper's Table 4, with what is at hand; percentages as there.
constexpr TableMetric kTableMetrics[] = {
    {"nll", "NLL", 4, 1.0},
    {"brier", "Brier", 4, 1.0},
    {"ece", "ECE", 4, 1.0},
    {"classwise_ece", "cwECE", 4, 1.0},
    {"mce", "MCE", 3, 1.0},
    {"ace", "ACE", 4, 1.0},
    {"ba_ece", "BA-ECE", 4, 1.0},
    {"accuracy", "Acc %", 2, 100.0},
    {"dsc", "DSC %", 2, 100.0},
    {"miou", "mIoU %", 2, 100.0},
    {"flip_rate", "Flip %", 3, 1.0},
};

double ValueOf(const std::vector<MetricResult>& metrics, const std::string& name) {
  for (const MetricResult& metric : metrics) {
    if (metric.name == name) return metric.value;
  }
  return std::nan("");
}

bool IsComputed(const EvaluateResult& result, const std::string& name) {
  const std::vector<MetricResult>& metrics = result.pipelines.front().mean;
  return std::any_of(metrics.begin(), metrics.end(), [&](const MetricResult& metric) {
    return metric.name == name;
  });
}

Better BetterOf(const std::string& name) {
  for (const MetricInfo* info : Metrics()) {
    for (const MetricNumber& number : info->numbers) {
      if (name != number.name) continue;
      if (number.goal == Goal::kLow) return Better::kLower;
      if (number.goal == Goal::kHigh) return Better::kHigher;
    }
  }
  return Better::kNeither;
}

// Which two axes a picture shows: the last two; where to cut the others: the most informative
// slice.
struct Slice {
  SliceSize size;
  int64_t first = 0;  // voxel of its upper left corner
  int64_t index = 0;
  int64_t depth = 1;
};

Slice ChooseSlice(const Dataset& dataset, const CaseMaps& maps) {
  Slice slice;
  const std::vector<int64_t>& shape = maps.shape;
  slice.size.width = shape.back();
  slice.size.height = shape.size() >= 2 ? shape[shape.size() - 2] : 1;
  slice.depth = shape.size() >= 3 ? shape[0] : 1;
  slice.index = MostInformativeSlice(
      maps.labels, slice.depth, slice.size.count(), dataset.background.value_or(-1));
  slice.first = slice.index * slice.size.count();
  return slice;
}

std::string TitleOf(const CaseMaps& maps, const Slice& slice) {
  if (slice.depth == 1) return maps.id;
  return fmt::format("{}, slice {} of {}", maps.id, slice.index, slice.depth);
}

// Height of a pixel over its width.
double AspectOf(const CaseMaps& maps) {
  const size_t axes = maps.spacing.size();
  return axes >= 2 ? maps.spacing[axes - 2] / maps.spacing[axes - 1] : 1.0;
}

template <class T>
std::vector<T> Cut(const std::vector<T>& values, const Slice& slice) {
  return {values.begin() + slice.first, values.begin() + slice.first + slice.size.count()};
}

const Case& FindCase(const Dataset& dataset, const std::string& id) {
  for (const Case& c : dataset.cases) {
    if (c.id == id) return c;
  }
  Throw(ErrorCode::kInvalidArgument, "the data set has no case \"{}\"", id);
}

// The case's picture in 8 bits, or nothing: a picture without it is still a picture.
std::vector<Rgb> ReadImage(const Dataset& dataset, const Case& entry, const Slice& slice) {
  if (entry.image.empty() || slice.depth != 1) return {};
  const auto array = OpenArray((std::filesystem::path(dataset.folder) / entry.image).string());
  const ArrayInfo& info = array->info();
  const bool gray = info.shape.size() == 2;
  const bool fits = info.dtype == DType::kU8 && (gray || info.shape.size() == 3) &&
                    info.shape[0] == slice.size.height && info.shape[1] == slice.size.width;
  if (!fits) return {};
  const int64_t channels = gray ? 1 : info.shape[2];
  std::vector<uint8_t> bytes(static_cast<size_t>(info.NumElements()));
  array->Read(0, info.NumElements(), bytes.data());
  std::vector<Rgb> image(static_cast<size_t>(slice.size.count()));
  for (size_t i = 0; i < image.size(); ++i) {
    const uint8_t* p = bytes.data() + i * static_cast<size_t>(channels);
    image[i] = channels >= 3 ? Rgb{p[0], p[1], p[2]} : Rgb{p[0], p[0], p[0]};
  }
  return image;
}

std::string NoteFor(const PipelineMetrics& pipeline, const std::string& id) {
  for (const CaseMetrics& c : pipeline.cases) {
    if (c.id != id) continue;
    return fmt::format("{}: NLL {:.3f}, ECE {:.3f}",
                       pipeline.pipeline,
                       ValueOf(c.metrics, "nll"),
                       ValueOf(c.metrics, "ece"));
  }
  return pipeline.pipeline;
}

double ClassValue(const std::vector<MetricResult>& metrics, const std::string& name, size_t c) {
  for (const MetricResult& metric : metrics) {
    if (metric.name == name) return metric.per_class[c];
  }
  return std::nan("");
}

std::vector<ReliabilityBin> BinsOf(const std::vector<ReliabilityRow>& rows) {
  std::vector<ReliabilityBin> bins;
  bins.reserve(rows.size());
  for (const ReliabilityRow& row : rows) {
    bins.push_back({.lower = row.lower,
                    .upper = row.upper,
                    .count = row.count,
                    .correct = row.correct,
                    .confidence_sum = row.confidence_sum});
  }
  return bins;
}

// A page of diagrams that can still be looked at.
constexpr size_t kMostClassPanels = 24;

// What the last pipeline is compared with: the first one with the same pooling, so that differences
// are the calibrator's; the last itself where there is none.
size_t BeforeIndex(const EvaluateResult& result) {
  const size_t last = result.pipelines.size() - 1;
  const Pooling pooling = ParsePipeline(result.pipelines[last].pipeline).pooling;
  for (size_t i = 0; i < last; ++i) {
    if (ParsePipeline(result.pipelines[i].pipeline).pooling == pooling) return i;
  }
  return last;
}

// Whether two finite values differ.
bool Varies(const std::vector<float>& values) {
  const auto first =
      std::find_if(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
  return std::any_of(first, values.end(), [&](float x) { return std::isfinite(x) && x != *first; });
}

}  // namespace

std::string ReliabilityFigure(const EvaluateResult& result) {
  std::vector<ReliabilityPanel> panels;
  for (const PipelineMetrics& pipeline : result.pipelines) {
    ReliabilityPanel panel{.title = pipeline.pipeline, .bins = BinsOf(pipeline.reliability)};
    // A diagram pools the voxels of all cases, so its numbers do too; tables have means over cases.
    panel.numbers = {{"pooled ECE", ValueOf(pipeline.pooled, "ece")},
                     {"pooled NLL", ValueOf(pipeline.pooled, "nll")}};
    panels.push_back(std::move(panel));
  }
  return ReliabilitySvg(panels);
}

std::string ClassReliabilityFigure(const EvaluateResult& result) {
  const PipelineMetrics& pipeline = result.pipelines.back();
  std::vector<ReliabilityPanel> panels;
  for (const ClassReliability& diagram : pipeline.class_reliability) {
    if (diagram.kind != "one_vs_rest" || panels.size() == kMostClassPanels) continue;
    const auto c = static_cast<size_t>(diagram.class_index);
    panels.push_back({.title = result.classes[c],
                      .bins = BinsOf(diagram.rows),
                      .numbers = {{"pooled ECE", ClassValue(pipeline.pooled, "classwise_ece", c)},
                                  {"pooled IoU", ClassValue(pipeline.pooled, "miou", c)}}});
  }
  return panels.empty() ? std::string() : ReliabilitySvg(panels);
}

std::string CaseFigure(const Dataset& dataset, const CaseMaps& maps, const EvaluateResult& result) {
  const Slice slice = ChooseSlice(dataset, maps);
  CasePicture picture;
  picture.title = TitleOf(maps, slice);
  picture.size = slice.size;
  picture.pixel_aspect = AspectOf(maps);
  picture.classes = dataset.classes;
  picture.background = dataset.background.value_or(-1);
  picture.image = ReadImage(dataset, FindCase(dataset, maps.id), slice);
  picture.labels = Cut(maps.labels, slice);
  const size_t before = BeforeIndex(result);
  const size_t after = result.pipelines.size() - 1;
  picture.note = NoteFor(result.pipelines[before], maps.id);
  picture.predicted = Cut(maps.models[before].predicted, slice);
  picture.confidence_before = Cut(maps.models[before].confidence, slice);
  picture.before = result.pipelines[before].pipeline;
  if (before != after) {
    picture.note += "  ·  " + NoteFor(result.pipelines[after], maps.id);
    picture.predicted_after = Cut(maps.models[after].predicted, slice);
    picture.confidence_after = Cut(maps.models[after].confidence, slice);
    picture.after = result.pipelines[after].pipeline;
  }
  picture.fields = {{.caption = "free energy", .values = Cut(maps.free_energy, slice)}};
  // A single temperature for all voxels is a number, not a picture.
  const std::vector<float>& temperature = maps.models[after].temperature;
  if (Varies(temperature))
    picture.fields.push_back({.caption = "temperature", .values = Cut(temperature, slice)});
  return CasePictureSvg(picture);
}

std::string FreeEnergyFigure(const Dataset& dataset,
                             const DatasetSummary& summary,
                             size_t num_cases,
                             const std::function<CaseMaps(size_t)>& maps_of) {
  const FreeEnergySpread& spread = summary.free_energy.back();
  PanelPage page{.title = dataset.name + ": free energy"};
  // Short enough for a page of one narrow panel.
  page.note = fmt::format("std {:.2f} [{:.2f}, {:.2f}, {:.2f}] · {} case{} · M = {}",
                          spread.mean,
                          spread.quartiles[0],
                          spread.quartiles[1],
                          spread.quartiles[2],
                          spread.cases,
                          spread.cases == 1 ? "" : "s",
                          spread.members);
  for (size_t i = 0; i < num_cases; ++i) {
    const CaseMaps maps = maps_of(i);
    const Slice slice = ChooseSlice(dataset, maps);
    if (i == 0) page.pixel_aspect = AspectOf(maps);
    page.panels.push_back(FieldPanel(
        {.caption = TitleOf(maps, slice), .values = Cut(maps.free_energy, slice)}, slice.size));
  }
  return PanelPageSvg(page);
}

std::string MetricsTable(const EvaluateResult& result) {
  std::vector<TableMetric> metrics;
  for (const TableMetric& metric : kTableMetrics) {
    if (IsComputed(result, metric.name)) metrics.push_back(metric);
  }
  std::vector<TableColumn> columns = {{.header = "pipeline", .align = Align::kLeft}};
  for (const TableMetric& metric : metrics) {
    columns.push_back(
        {.header = metric.header, .align = Align::kRight, .better = BetterOf(metric.name)});
  }
  Table table(columns);
  for (const PipelineMetrics& pipeline : result.pipelines) {
    std::vector<TableCell> row = {pipeline.pipeline};
    for (const TableMetric& metric : metrics) {
      row.push_back(
          NumberCell(ValueOf(pipeline.mean, metric.name) * metric.factor, metric.decimals));
    }
    table.AddRow(std::move(row));
  }
  return table.ToText();
}

}  // namespace segcal
