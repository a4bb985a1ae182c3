// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/quantile.h"
#include "core/throw.h"
#include "data/array_source.h"
#include "formats/array.h"
#include "pipeline/case_maps.h"
#include "report/before.h"
#include "report/case_picture.h"
#include "report/field_picture.h"
#include "report/panels.h"
#include "report/text.h"
#include "segcal/figures.h"
#include "segcal/tables.h"

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

size_t FindCase(const Dataset& dataset, const std::string& id) {
  for (size_t c = 0; c < dataset.cases.size(); ++c) {
    if (dataset.cases[c].id == id) return c;
  }
  Throw(ErrorCode::kInvalidArgument, "the data set has no case \"{}\"", id);
}

// The id of the case to draw; one that took no part has no numbers to show.
std::string EvaluatedCase(const EvaluateResult& result, const std::string& wanted) {
  if (wanted.empty()) return TypicalCase(result);
  const std::vector<CaseMetrics>& cases = result.pipelines.front().cases;
  for (const CaseMetrics& c : cases) {
    if (c.id == wanted) return c.id;
  }
  Throw(ErrorCode::kInvalidArgument,
        "case \"{}\" is not among the {} that were evaluated",
        wanted,
        cases.size());
}

void CheckModels(const std::vector<Model>& models, const EvaluateResult& result) {
  if (!models.empty() && models.size() == result.pipelines.size()) return;
  Throw(ErrorCode::kInvalidArgument,
        "{} models for a result of {} pipelines: the models that gave it are required",
        models.size(),
        result.pipelines.size());
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

// One of the two pipelines that a picture compares.
struct Side {
  std::string name;
  std::string note;  // its name and its numbers of the case
  const VoxelMaps& maps;
};

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

Side MakeSide(const EvaluateResult& result, const CaseMaps& maps, size_t index) {
  const std::string name = ShownPipelines(result)[index];
  return {.name = name,
          .note = NoteFor(result.pipelines[index], name, maps.id),
          .maps = maps.models[index]};
}

// The uncalibrated prediction, the last of the maps where the result has not got it.
Side BeforeSide(const EvaluateResult& result, const CaseMaps& maps, const std::string& baseline) {
  const size_t last = result.pipelines.size() - 1;
  if (const auto before = FindBefore(result, last)) return MakeSide(result, maps, *before);
  if (maps.models.size() == result.pipelines.size()) return MakeSide(result, maps, last);
  return {.name = baseline, .note = baseline, .maps = maps.models.back()};
}

// Where the scale of local errors ends: one hot spot must not make the rest dark.
double ScaleEnd(const std::vector<const std::vector<float>*>& maps) {
  std::vector<double> values;
  for (const auto* map : maps) {
    for (const float value : *map) {
      if (std::isfinite(value)) values.push_back(static_cast<double>(value));
    }
  }
  constexpr double kShown = 0.98;
  return values.empty() ? 0.0 : Quantile(values, kShown);
}

// What does not depend on the pipelines.
CasePicture StartPicture(const Dataset& dataset, const Case& entry, const CaseMaps& maps) {
  CasePicture picture;
  picture.title = MakeTitle(maps);
  picture.size = {.width = maps.width, .height = maps.height};
  picture.pixel_aspect = PixelAspect(maps);
  picture.classes = dataset.classes;
  picture.background = dataset.background.value_or(-1);
  if (!dataset.colors.empty())
    picture.colors = ClassColors(dataset.classes.size(), -1, dataset.colors);
  picture.image = ReadImage(dataset, entry, maps);
  picture.labels = maps.labels;
  return picture;
}

// Decisions, confidence and local error before and after; one side where they are the same.
void AddSides(const Side& before, const Side& after, CasePicture* picture) {
  const double end = ScaleEnd({&before.maps.local_error, &after.maps.local_error});
  const auto add_local = [&](const Side& side, bool with_next) {
    picture->fields.push_back({.caption = "Local ECE, " + side.name,
                               .values = side.maps.local_error,
                               .low = 0.0,
                               .high = end,
                               .with_next = with_next});
  };
  const bool differ = &before.maps != &after.maps;
  picture->predicted = after.maps.decision;
  picture->predicted_after = after.maps.predicted;
  picture->before = before.name;
  picture->after = after.name;
  picture->note = before.note;
  picture->confidence_before = before.maps.confidence;
  add_local(before, differ);
  if (!differ) return;
  picture->note += "  ·  " + after.note;
  picture->confidence_after = after.maps.confidence;
  add_local(after, false);
}

// Logits that a softmax has already seen have a free energy of zero up to rounding, which must not
// look like a signal: a scale of at least a thousandth of a nat shows it as flat.
ScalarField FreeEnergyField(std::string caption, std::vector<float> values) {
  constexpr double kLeastRange = 1e-3;
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, static_cast<double>(value));
    high = std::max(high, static_cast<double>(value));
  }
  ScalarField field{.caption = std::move(caption), .values = std::move(values)};
  if (high - low >= kLeastRange || high < low) return field;
  field.low = (low + high - kLeastRange) / 2.0;
  field.high = (low + high + kLeastRange) / 2.0;
  return field;
}

// Whether two finite values differ.
bool Varies(const std::vector<float>& values) {
  const auto first =
      std::find_if(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
  return std::any_of(first, values.end(), [&](float x) { return std::isfinite(x) && x != *first; });
}

// Those asked for, else the first ones that were read, as many as fill a page.
std::vector<std::string> CasesToDraw(const DatasetSummary& summary,
                                     const std::vector<std::string>& wanted) {
  constexpr size_t kPage = 6;
  std::vector<std::string> ids = wanted;
  for (size_t c = 0; wanted.empty() && c < std::min(kPage, summary.cases.size()); ++c)
    ids.push_back(summary.cases[c].id);
  return ids;
}

// Short enough for a page of one narrow panel.
std::string SpreadNote(const DatasetSummary& summary) {
  if (summary.free_energy.empty())
    Throw(ErrorCode::kInvalidArgument, "the summary has no free energy to draw");
  const FreeEnergySpread& spread = summary.free_energy.back();
  return fmt::format("std {:.2f} [{:.2f}, {:.2f}, {:.2f}] · {} case{} · M = {}",
                     spread.mean,
                     spread.quartiles[0],
                     spread.quartiles[1],
                     spread.quartiles[2],
                     spread.cases,
                     spread.cases == 1 ? "" : "s",
                     spread.members);
}

}  // namespace

std::string CaseFigure(const Dataset& dataset,
                       const std::vector<Model>& models,
                       const EvaluateResult& result,
                       const CaseFigureOptions& options) {
  CheckModels(models, result);
  const size_t index = FindCase(dataset, EvaluatedCase(result, options.case_id));
  const size_t last = result.pipelines.size() - 1;
  const std::string baseline = BaselinePipeline(result.pipelines[last].pipeline);
  std::vector<Model> drawn = models;
  const bool is_baseline = result.pipelines[last].pipeline == baseline;
  if (!is_baseline && !FindBefore(result, last)) drawn.push_back(Baseline(dataset, baseline));
  const CaseMaps maps = MapCase(dataset, static_cast<int64_t>(index), drawn, options.run);
  const Side after = MakeSide(result, maps, last);
  CasePicture picture = StartPicture(dataset, dataset.cases[index], maps);
  AddSides(BeforeSide(result, maps, baseline), after, &picture);
  if (options.case_id.empty() && !is_baseline && result.pipelines[last].cases.size() > 1)
    picture.note += "  ·  median gain of all cases";
  // Of probabilities it is zero, up to rounding.
  if (dataset.input == InputKind::kLogits)
    picture.fields.push_back(FreeEnergyField("Free energy", maps.free_energy));
  // A single temperature for all voxels is a number, not a picture.
  if (Varies(after.maps.temperature))
    picture.fields.push_back({.caption = "Temperature", .values = after.maps.temperature});
  return CasePictureSvg(picture);
}

std::string FreeEnergyFigure(const Dataset& dataset,
                             const DatasetSummary& summary,
                             const FreeEnergyFigureOptions& options) {
  if (summary.input != InputKind::kLogits) {
    Throw(ErrorCode::kInvalidArgument,
          "the data set \"{}\" holds {}, whose free energy is zero: there is nothing to draw",
          dataset.name,
          Name(summary.input));
  }
  PanelPage page{.title = dataset.name + ": free energy", .note = SpreadNote(summary)};
  const std::vector<Model> plain = {Baseline(dataset, "none(z)")};
  for (const std::string& id : CasesToDraw(summary, options.case_ids)) {
    const auto index = static_cast<int64_t>(FindCase(dataset, id));
    const CaseMaps maps = MapCase(dataset, index, plain, options.run);
    if (page.panels.empty()) page.pixel_aspect = PixelAspect(maps);
    page.panels.push_back(FieldPanel(FreeEnergyField(MakeTitle(maps), maps.free_energy),
                                     {.width = maps.width, .height = maps.height}));
  }
  return PanelPageSvg(page);
}

}  // namespace segcal
