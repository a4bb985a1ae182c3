// SPDX-License-Identifier: Apache-2.0
// segcal_probe COMMAND: reads arguments as JSON from standard input and writes results as JSON, so
// that SciPy can be asked the same question. For what the program shows only inside larger results.
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "methods/affine/affine_regularizer.h"
#include "methods/tree/tree_training.h"
#include "spatial/boundary.h"
#include "spatial/distance.h"
#include "spatial/local_error.h"
#include "spatial/surface.h"
#include "stats/bootstrap.h"
#include "stats/mann_whitney.h"
#include "stats/ranking.h"
#include "stats/wilcoxon.h"
#include "tests/oracle/probe_training.h"

namespace segcal {
namespace {

using Json = nlohmann::json;
using Values = std::vector<double>;

// null is NaN, either way.
double NumberOf(const Json& json) { return json.is_null() ? std::nan("") : json.get<double>(); }

Values ValuesOf(const Json& json) {
  Values values;
  for (const Json& value : json) values.push_back(NumberOf(value));
  return values;
}

RepeatedValues Table(const Json& json) {
  RepeatedValues table;
  for (const Json& row : json) table.push_back(ValuesOf(row));
  return table;
}

VoxelGrid GridFrom(const Json& in) {
  return MakeGrid(in.at("shape").get<std::vector<int64_t>>(), ValuesOf(in.at("spacing")));
}

Json Distances(const Json& in) {
  const VoxelGrid grid = GridFrom(in);
  const auto sources = in.at("sources").get<std::vector<uint8_t>>();
  return {{"voxels", SquaredVoxelDistances(grid, sources, 2)},
          {"spaced", SquaredDistances(grid, sources, 2)}};
}

Json Boundary(const Json& in) {
  const auto labels = in.at("labels").get<std::vector<int32_t>>();
  const auto set = in.at("set").get<std::vector<uint8_t>>();
  return {{"boundary", LabelBoundary(GridFrom(in), labels)},
          {"squared", SquaredBoundaryDistances(GridFrom(in), labels, 2)},
          {"surface", FindSurface(GridFrom(in), set)}};
}

Json Surfaces(const Json& in) {
  const std::vector<SurfaceScores> scores =
      ScoreSurfaces(GridFrom(in),
                    in.at("labels").get<std::vector<int32_t>>(),
                    in.at("predicted").get<std::vector<uint16_t>>(),
                    in.at("classes"),
                    in.at("tolerance"),
                    2);
  Json out = Json::array();
  for (const SurfaceScores& s : scores) {
    out.push_back({{"labelled", s.labelled},
                   {"predicted", s.predicted},
                   {"asd", s.mean_distance},
                   {"hd", s.hausdorff},
                   {"hd95", s.hausdorff95},
                   {"md95", s.volume95},
                   {"nsd", s.surface_dice},
                   {"surface_dice", s.band_dice}});
  }
  return out;
}

Json LocalError(const Json& in) {
  const auto upper = in.at("upper").get<std::vector<float>>();
  return LocalCalibrationError(GridFrom(in),
                               in.at("confidence").get<std::vector<float>>(),
                               in.at("predicted").get<std::vector<uint16_t>>(),
                               in.at("labels").get<std::vector<int32_t>>(),
                               {.upper = upper, .closed_above = true},
                               in.at("radius"),
                               2);
}

Alternative AlternativeNamed(const std::string& name) {
  if (name == "two-sided") return Alternative::kTwoSided;
  return name == "less" ? Alternative::kLess : Alternative::kGreater;
}

Json MannWhitney(const Json& in) {
  const MannWhitneyResult result = MannWhitneyU(
      ValuesOf(in.at("x")), ValuesOf(in.at("y")), AlternativeNamed(in.at("alternative")));
  return {{"u", result.u}, {"p", result.p}, {"exact", result.exact}};
}

Json Wilcoxon(const Json& in) {
  const WilcoxonResult result =
      WilcoxonSignedRank(ValuesOf(in.at("differences")), AlternativeNamed(in.at("alternative")));
  return {{"w", result.w}, {"p", result.p}, {"exact", result.exact}};
}

Json Rankings(const Json& in) {
  std::vector<MetricTable> tables;
  for (const Json& table : in) {
    tables.push_back({.goal = table.at("low_is_best") ? Goal::kLow : Goal::kHigh,
                      .values = Table(table.at("values"))});
  }
  return {{"sum_rank", SumRank(tables)}, {"mean_case_rank", MeanCaseRank(tables)}};
}

Json Bootstrap(const Json& in) {
  const BootstrapOptions options{.replicates = in.at("replicates"),
                                 .level = in.at("level"),
                                 .seed = in.at("seed"),
                                 .num_threads = 2};
  const RepeatedValues first = Table(in.at("first"));
  const BootstrapInterval interval =
      in.contains("second") ? BootstrapPairedDifference(first, Table(in.at("second")), options)
                            : BootstrapMean(first, options);
  return {{"estimate", interval.estimate}, {"lower", interval.lower}, {"upper", interval.upper}};
}

// Temperatures of one case, and loss and gradient of all its voxels, by the weights of a tree.
Json Tree(const Json& in) {
  const auto logits = in.at("logits").get<std::vector<float>>();
  const auto labels = in.at("labels").get<std::vector<int32_t>>();
  const auto weights = in.at("weights").get<Values>();
  const auto spatial = in.at("shape").get<std::vector<int64_t>>();
  const auto num_classes = in.at("classes").get<int64_t>();
  std::vector<int64_t> scores = spatial;
  scores.insert(scores.begin(), num_classes);
  Dataset dataset;
  dataset.classes.assign(static_cast<size_t>(num_classes), "class");
  dataset.input = InputKind::kLogits;
  dataset.ignore_label = 255;
  dataset.cases = {{.id = "case",
                    .members = {MakeView(logits.data(), scores)},
                    .labels = MakeView(labels.data(), spatial),
                    .image = in.at("image").get<std::string>()}};
  StreamOptions options;
  options.threads = 2;
  const CaseStream stream(dataset, std::vector<Pooling>{{}}, options);
  const TreeInput input{.pooling = {},
                        .scores = in.at("raw") ? ScoreKind::kRaw : ScoreKind::kCanonical,
                        .image_channels = in.at("image_channels")};
  const TreeShape shape{.classes = num_classes, .image_channels = input.image_channels};
  TreeWeights packed(shape);
  packed.Pack(weights);
  const TreeData data{.training = GatherPatches(stream, input, {.max_bytes = int64_t{1} << 30}),
                      .validation = {}};
  TreeTraining training(data,
                        {.shape = shape,
                         .whole_case = in.at("whole_case"),
                         .voxels = int64_t{1} << 40,
                         .batch = int64_t{1} << 20,
                         .threads = 2});
  Values gradient(weights.size(), 0.0);
  const double loss = training.Step(0, 0, training.Parameters(weights), gradient);
  return {{"temperature", TemperatureMap(*stream.Open(0), input, packed, {.threads = 2})},
          {"loss", loss},
          {"gradient", training.Parameters(gradient)}};
}

AffineSpace SpaceNamed(const std::string& method) {
  if (method == "ms") return AffineSpace::kRaw;
  if (method == "ms_c") return AffineSpace::kDifferences;
  if (method == "cms_ap") return AffineSpace::kWinnerGaps;
  return method == "cms_op" ? AffineSpace::kSortedGaps : AffineSpace::kLogProbs;
}

// The penalty of one expert in its published form.
Json PublishedPenalty(const Json& in) {
  const std::string method = in.at("method");
  const AffineShape shape{.space = SpaceNamed(method),
                          .per_decision = method.starts_with("c"),
                          .num_classes = in.at("classes")};
  const Penalty penalty{.lambda = in.at("lambda"),
                        .mu = in.at("mu"),
                        .kappa = in.at("kappa"),
                        .anchor = 1.0,
                        .paper = true};
  const Value value = AffineRegularizer(shape, penalty).Evaluate(ValuesOf(in.at("parameters")));
  return {{"value", value.value}, {"gradient", value.gradient}};
}

const std::map<std::string, std::function<Json(const Json&)>> kCommands = {
    {"published_penalty", PublishedPenalty},
    {"tree", Tree},
    {"distances", Distances},
    {"boundary", Boundary},
    {"surfaces", Surfaces},
    {"local_error", LocalError},
    {"mann_whitney", MannWhitney},
    {"wilcoxon", Wilcoxon},
    {"benjamini_hochberg", [](const Json& in) { return Json(BenjaminiHochberg(ValuesOf(in))); }},
    {"ranks", [](const Json& in) { return Json(AverageRanks(ValuesOf(in))); }},
    {"rankings", Rankings},
    {"bootstrap", Bootstrap},
    {"adam", ProbeAdam},
    {"plateau", ProbePlateau},
    {"search_ask", ProbeSearchAsk},
    {"search_run", ProbeSearchRun},
    {"selector", ProbeSelector},
};

}  // namespace
}  // namespace segcal

int main(int argc, char** argv) {
  if (argc != 2 || segcal::kCommands.count(argv[1]) == 0) return 2;
  std::cout << segcal::kCommands.at(argv[1])(nlohmann::json::parse(std::cin));
}
