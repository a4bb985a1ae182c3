// SPDX-License-Identifier: Apache-2.0
#include "page/explorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/json.h"
#include "core/progress.h"
#include "core/throw.h"
#include "page/explored_case.h"
#include "page/html.h"
#include "page/packed_case.h"
#include "pipeline/spec.h"
#include "report/colors.h"

namespace segcal {
namespace {

// From the finest to the coarsest; what a reader sees in pictures matters more than where the
// read-out has points.
constexpr PackSteps kLadder[] = {{1, 1},
                                 {1, 2},
                                 {1, 3},
                                 {2, 3},
                                 {2, 4},
                                 {2, 5},
                                 {2, 6},
                                 {3, 6},
                                 {3, 8},
                                 {4, 8},
                                 {6, 12},
                                 {8, 16}};

std::vector<Model> LoadStudyModels(const StudyView& view, const ExplorerInput& input) {
  std::vector<Model> models;
  for (const StudyFit& fit : view.study().repeats.front().fits) {
    models.push_back(fit.model.empty()
                         ? Baseline(input.dataset, fit.pipeline)
                         : Model::Load((std::filesystem::path(input.folder) / fit.model).string()));
  }
  return models;
}

PackOrder MakeOrder(const StudyView& view) {
  PackOrder order;
  std::vector<Pooling> poolings;
  for (size_t p = 0; p < view.num_pipelines(); ++p) {
    poolings.push_back(ParsePipeline(view.name(p)).pooling);
    const auto first = std::find(poolings.begin(), poolings.end(), poolings.back());
    int64_t reference = static_cast<int64_t>(p) - 1;
    for (size_t other = 0; other < p; ++other) {
      if (poolings[other] == poolings[p]) reference = static_cast<int64_t>(other);
    }
    order.first_of_pooling.push_back(first - poolings.begin());
    order.reference.push_back(reference);
    order.keeps.push_back(view.study().pipelines[p].properties.preserves != Preserves::kNone);
  }
  return order;
}

size_t IndexOfCase(const Dataset& dataset, const std::string& id) {
  for (size_t c = 0; c < dataset.cases.size(); ++c) {
    if (dataset.cases[c].id == id) return c;
  }
  Throw(ErrorCode::kInvalidArgument,
        "the data set {} has no case \"{}\", which the study has",
        dataset.name,
        id);
}

std::vector<ExploredCase> ExploreCases(const std::vector<Model>& models,
                                       const ExplorerInput& input) {
  const ProgressScope scope(input.run.progress);
  std::vector<ExploredCase> cases;
  for (const ChosenCase& chosen : input.cases) {
    ReportProgress({.stage = "explore cases",
                    .done = static_cast<int64_t>(cases.size()),
                    .total = static_cast<int64_t>(input.cases.size()),
                    .detail = chosen.id});
    cases.push_back(
        ExploreCase(input.dataset, IndexOfCase(input.dataset, chosen.id), models, input.run));
  }
  return cases;
}

int64_t PageBytes(const PackedCase& packed) {
  return static_cast<int64_t>(packed.bytes.size() * 4 / 3 + packed.manifest.dump().size() + 128);
}

// As many cases as fit.
std::vector<PackedCase> PackCases(const std::vector<ExploredCase>& cases,
                                  const PackOrder& order,
                                  PackSteps steps,
                                  int64_t most_bytes) {
  std::vector<PackedCase> packed;
  int64_t bytes = 0;
  for (const ExploredCase& explored : cases) {
    PackedCase next = PackCase(explored, order, steps);
    bytes += PageBytes(next);
    if (bytes > most_bytes) break;
    packed.push_back(std::move(next));
  }
  return packed;
}

int64_t GridPoints(const ExploredCase& explored) {
  return std::ssize(explored.grid.slices) * explored.grid.rows * explored.grid.columns;
}

// By the first case what all of them take: to pack all of them only to see that they do not fit
// takes long.
double EstimateBytes(const std::vector<ExploredCase>& cases,
                     const PackOrder& order,
                     PackSteps steps) {
  double points = 0.0;
  for (const ExploredCase& explored : cases) points += static_cast<double>(GridPoints(explored));
  return static_cast<double>(PageBytes(PackCase(cases.front(), order, steps))) * points /
         static_cast<double>(GridPoints(cases.front()));
}

// With the finest steps that leave room for all cases, as far as the estimate is right.
std::vector<PackedCase> PackFinest(const std::vector<ExploredCase>& cases,
                                   const PackOrder& order,
                                   int64_t most_bytes) {
  constexpr double kErrorOfEstimate = 1.1;
  std::vector<PackedCase> packed;
  for (size_t k = 0; k < std::size(kLadder) && !cases.empty(); ++k) {
    const PackSteps steps = kLadder[k];
    const bool may_fit =
        EstimateBytes(cases, order, steps) <= kErrorOfEstimate * static_cast<double>(most_bytes);
    if (!may_fit && k + 1 < std::size(kLadder)) continue;
    packed = PackCases(cases, order, steps, most_bytes);
    if (packed.size() == cases.size()) break;
  }
  return packed;
}

Json MapJson(ColorMap map) {
  Json colors = Json::array();
  for (const Rgb color : FindColors(map)) colors.push_back(HexColor(color));
  return colors;
}

Json CommonJson(const StudyView& view, const ExplorerInput& input, const PackOrder& order) {
  Json pipelines = Json::array();
  for (size_t p = 0; p < view.num_pipelines(); ++p) {
    pipelines.push_back({{"name", view.name(p)},
                         {"first", order.first_of_pooling[p]},
                         {"reference", order.reference[p]},
                         {"baseline", view.BaselineOf(p)},
                         {"keeps", static_cast<bool>(order.keeps[p])}});
  }
  Json colors = Json::array();
  for (const Rgb color : ClassColors(
           view.classes().size(), input.dataset.background.value_or(-1), input.dataset.colors))
    colors.push_back(HexColor(color));
  return {{"classes", view.classes()},
          {"colors", colors},
          {"pipelines", pipelines},
          {"chosen", view.chosen()},
          {"sequential", MapJson(ColorMap::kSequential)},
          {"heat", MapJson(ColorMap::kHeat)}};
}

// "every second pixel of every second row", "every 12th pixel of every 12th row".
std::string EveryPixel(int64_t step) {
  if (step == 1) return "every pixel";
  const char* ending = step / 10 % 10 == 1 ? "th"
                       : step % 10 == 1    ? "st"
                       : step % 10 == 2    ? "nd"
                       : step % 10 == 3    ? "rd"
                                           : "th";
  const std::string ordinal = step == 2   ? "second"
                              : step == 3 ? "third"
                                          : fmt::format("{}{}", step, ending);
  return fmt::format("every {} pixel of every {} row", ordinal, ordinal);
}

std::string StoredText(const PackedCase& first, size_t shown, size_t wanted) {
  const auto step = first.manifest["step"].get<int64_t>();
  const auto every = [&](const char* name) { return step * first.manifest[name].get<int64_t>(); };
  std::string text = fmt::format(
      "Stored: labels and decisions of {}, confidence, temperature and free energy of {}, "
      "probabilities of the {} classes "
      "that any pipeline gives most of {}. Probabilities are within 0.8 percentage points.",
      EveryPixel(step),
      EveryPixel(every("fine")),
      first.manifest["leading"].get<int64_t>(),
      EveryPixel(every("coarse")));
  if (shown < wanted)
    text +=
        fmt::format(" {} of {} cases would have made the page too large.", wanted - shown, wanted);
  return text;
}

}  // namespace

std::string ExplorerSection(const StudyView& view, const ExplorerInput& input) {
  const PackOrder order = MakeOrder(view);
  const std::vector<ExploredCase> explored = ExploreCases(LoadStudyModels(view, input), input);
  const std::vector<PackedCase> packed = PackFinest(explored, order, input.most_bytes);
  if (packed.empty()) return NoExplorerSection("No case fits the page.");
  Json data = CommonJson(view, input, order);
  data["cases"] = Json::array();
  std::string blobs;
  for (size_t c = 0; c < packed.size(); ++c) {
    Json manifest = packed[c].manifest;
    manifest["why"] = input.cases[c].why;
    data["cases"].push_back(std::move(manifest));
    blobs += PackedBytes(fmt::format("case-{}", c), packed[c].bytes);
  }
  return PageSection(
      "cases",
      "Cases",
      Paragraph(
          "Cases of the first repeat's test set and its models. Move over a picture to read its "
          "probabilities. Press + and − or double-click to zoom and drag to move the picture; "
          "arrow "
          "keys move the cursor, [ and ] the slice, 0 shows the whole.") +
          "<div id=\"explorer\"></div>\n<noscript><p>The explorer needs "
          "JavaScript.</p></noscript>\n" +
          Remark(StoredText(packed.front(), packed.size(), explored.size())) +
          "<script type=\"application/json\" id=\"explorer-data\">" + EmbedJson(data.dump()) +
          "</script>\n" + blobs);
}

std::string NoExplorerSection(const std::string& reason) {
  return PageSection("cases", "Cases", Remark("There is no case explorer here. " + reason));
}

}  // namespace segcal
