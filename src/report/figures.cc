// SPDX-License-Identifier: Apache-2.0
#include "report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/throw.h"
#include "data/array_source.h"
#include "formats/array.h"
#include "pipeline/spec.h"
#include "report/case_picture.h"
#include "report/field_picture.h"
#include "report/metrics_table.h"
#include "report/panels.h"
#include "report/reliability.h"
#include "report/text.h"

namespace segcal {
namespace {

std::string MakeTitle(const CaseMaps& maps) {
  if (maps.depth == 1) return maps.id;
  return fmt::format("{}, slice {} of {}", maps.id, maps.slice, maps.depth);
}

// Height of a pixel over its width.
double PixelAspect(const CaseMaps& maps) {
  const size_t axes = maps.spacing.size();
  return axes >= 2 ? maps.spacing[axes - 2] / maps.spacing[axes - 1] : 1.0;
}

const Case& FindCase(const Dataset& dataset, const std::string& id) {
  for (const Case& c : dataset.cases) {
    if (c.id == id) return c;
  }
  Throw(ErrorCode::kInvalidArgument, "the data set has no case \"{}\"", id);
}

// The case's picture in 8 bits, or nothing: a picture without it is still a picture.
std::vector<Rgb> ReadImage(const Dataset& dataset, const Case& entry, const CaseMaps& maps) {
  if (entry.image.empty() || maps.depth != 1) return {};
  const auto array = OpenSource(dataset, entry, entry.image, "image", {});
  const ArrayInfo& info = array->info();
  const bool gray = info.shape.size() == 2;
  const bool fits = info.dtype == DType::kU8 && (gray || info.shape.size() == 3) &&
                    info.shape[0] == maps.height && info.shape[1] == maps.width;
  if (!fits) return {};
  const int64_t channels = gray ? 1 : info.shape[2];
  std::vector<uint8_t> bytes(static_cast<size_t>(info.NumElements()));
  array->Read(0, info.NumElements(), bytes.data());
  std::vector<Rgb> image(static_cast<size_t>(maps.width * maps.height));
  for (size_t i = 0; i < image.size(); ++i) {
    const uint8_t* p = bytes.data() + i * static_cast<size_t>(channels);
    image[i] = channels >= 3 ? Rgb{p[0], p[1], p[2]} : Rgb{p[0], p[0], p[0]};
  }
  return image;
}

std::string NoteFor(const PipelineMetrics& pipeline,
                    const std::string& name,
                    const std::string& id) {
  for (const CaseMetrics& c : pipeline.cases) {
    if (c.id != id) continue;
    std::string note = name;
    const auto add = [&](const char* what, double value, int decimals, const char* unit) {
      if (std::isnan(value)) return;
      note += note == name ? ": " : ", ";
      note += what + FormatNumber(value, decimals) + unit;
    };
    add("NLL ", FindValue(c.metrics, "nll"), 3, "");
    add("ECE ", FindValue(c.metrics, "ece"), 3, "");
    const double flips = FindValue(c.metrics, "flip_rate");
    if (flips > 0.0) add("flips ", flips, 2, " %");
    return note;
  }
  return name;
}

// What the diagram of a region is about, and its number among the pooled ones.
struct RegionTitle {
  const char* about;
  const char* title;
  const char* number;
  const char* metric;
};
constexpr RegionTitle kRegions[] = {
    {"all", "All: foreground and boundary", "pooled ECE", "ece_all"},
    {"boundary", "Boundary: within 2 voxels", "pooled ECE", "ece_boundary"},
    {"distance_0_3", "Distance 0 to 3", "pooled gap", "gap_0_3"},
    {"distance_3_7", "Distance 3 to 7", "pooled gap", "gap_3_7"},
    {"distance_7_15", "Distance 7 to 15", "pooled gap", "gap_7_15"},
    {"distance_15_inf", "Distance 15 and more", "pooled gap", "gap_15_inf"},
    {"local_avg", "Local: all patches", "mean ECE", "ece_local_avg"},
    {"local_max", "Local: worst patch of each case", "mean ECE", "ece_local_max"},
};

std::string LastName(const EvaluateResult& result) { return ShownPipelines(result).back(); }

// The largest of the values that are numbers; 0 without any.
double FindLargest(const std::vector<const std::vector<float>*>& maps) {
  float largest = 0.0f;
  for (const auto* map : maps) {
    for (const float value : *map) largest = std::fmax(largest, value);
  }
  return static_cast<double>(largest);
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
  const std::vector<std::string> names = ShownPipelines(result);
  std::vector<ReliabilityPanel> panels;
  for (size_t p = 0; p < names.size(); ++p) {
    const PipelineMetrics& pipeline = result.pipelines[p];
    ReliabilityPanel panel{.title = names[p]};
    if (const Diagram* all = FindDiagram(pipeline.diagrams, DiagramKind::kReliability, "top_label"))
      panel.bins = ReliabilityRows(*all);
    // A diagram pools the voxels of all cases, so its numbers do too; tables have means over cases.
    panel.numbers = {{"pooled ECE", FindValue(pipeline.pooled, "ece")},
                     {"pooled NLL", FindValue(pipeline.pooled, "nll")}};
    panels.push_back(std::move(panel));
  }
  return ReliabilitySvg(panels);
}

std::string ClassReliabilityFigure(const EvaluateResult& result) {
  const PipelineMetrics& pipeline = result.pipelines.back();
  std::vector<ReliabilityPanel> panels;
  for (const Diagram& diagram : pipeline.diagrams) {
    if (diagram.about != "one_vs_rest" || panels.size() == kMostClassPanels) continue;
    const int64_t c = diagram.class_index;
    panels.push_back({.title = result.classes[static_cast<size_t>(c)],
                      .bins = ReliabilityRows(diagram),
                      .numbers = {{"pooled ECE", FindValue(pipeline.pooled, "classwise_ece", c)},
                                  {"pooled IoU", FindValue(pipeline.pooled, "miou", c)}}});
  }
  if (panels.empty()) return {};
  return ReliabilitySvg(panels,
                        LastName(result) + ": each class against the rest",
                        {.rate = "frequency", .mean = "probability"});
}

std::string RegionReliabilityFigure(const EvaluateResult& result) {
  const PipelineMetrics& pipeline = result.pipelines.back();
  std::vector<ReliabilityPanel> panels;
  for (const RegionTitle& region : kRegions) {
    const Diagram* diagram =
        FindDiagram(pipeline.diagrams, DiagramKind::kReliability, region.about);
    if (diagram == nullptr) continue;
    panels.push_back({.title = region.title,
                      .bins = ReliabilityRows(*diagram),
                      .numbers = {{region.number, FindValue(pipeline.pooled, region.metric)}}});
  }
  return panels.empty() ? std::string() : ReliabilitySvg(panels, LastName(result) + ": regions");
}

std::string CaseFigure(const Dataset& dataset, const CaseMaps& maps, const EvaluateResult& result) {
  const size_t before = BeforeIndex(result);
  const size_t after = result.pipelines.size() - 1;
  const VoxelMaps& first = maps.models[before];
  const VoxelMaps& last = maps.models[after];
  const std::string first_name = ShownPipelines(result)[before];
  const std::string last_name = LastName(result);
  CasePicture picture;
  picture.title = MakeTitle(maps);
  picture.size = {.width = maps.width, .height = maps.height};
  picture.pixel_aspect = PixelAspect(maps);
  picture.classes = dataset.classes;
  picture.background = dataset.background.value_or(-1);
  picture.image = ReadImage(dataset, FindCase(dataset, maps.id), maps);
  picture.labels = maps.labels;
  picture.note = NoteFor(result.pipelines[before], first_name, maps.id);
  picture.predicted = last.decision;
  picture.predicted_after = last.predicted;
  picture.confidence_before = first.confidence;
  picture.before = first_name;
  picture.after = last_name;
  const double largest = FindLargest({&first.local_error, &last.local_error});
  const auto add_local = [&](const std::string& name, const VoxelMaps& model) {
    picture.fields.push_back({.caption = "Local ECE, " + name,
                              .values = model.local_error,
                              .low = 0.0,
                              .high = largest});
  };
  add_local(first_name, first);
  if (before != after) {
    picture.note += "  ·  " + NoteFor(result.pipelines[after], last_name, maps.id);
    picture.confidence_after = last.confidence;
    add_local(last_name, last);
  }
  // Of probabilities it is zero, up to rounding.
  if (dataset.input == InputKind::kLogits)
    picture.fields.push_back(
        {.caption = "Free energy of the mean logits", .values = maps.free_energy});
  // A single temperature for all voxels is a number, not a picture.
  if (Varies(last.temperature))
    picture.fields.push_back({.caption = "Temperature", .values = last.temperature});
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
    if (i == 0) page.pixel_aspect = PixelAspect(maps);
    page.panels.push_back(FieldPanel({.caption = MakeTitle(maps), .values = maps.free_energy},
                                     {.width = maps.width, .height = maps.height}));
  }
  return PanelPageSvg(page);
}

}  // namespace segcal
