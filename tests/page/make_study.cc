// SPDX-License-Identifier: Apache-2.0
// segcal_make_study DATASET FOLDER PIPELINE...: a small study with something in every part of it,
// as a folder that `segcal report` reads. The first pipeline that is fitted is the recommended one;
// the cases of split "shift", if there are any, are a shift.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "segcal/segcal.h"

namespace segcal {
namespace {

struct StudyMaker {
  Dataset dataset;
  std::string folder;
  std::vector<std::string> pipelines;
  std::vector<Model> models = {};
  Study study = {};

  Dataset Split(const std::string& name) const { return SelectSplit(dataset, name); }

  EvaluateResult Measure(const Dataset& data, const EvaluateOptions& options) const {
    EvaluateResult result = Evaluate(data, models, options);
    for (size_t p = 0; p < pipelines.size(); ++p) result.pipelines[p].pipeline = pipelines[p];
    return result;
  }

  void AddFit(const std::string& pipeline, StudyRepeat* repeat) {
    const bool baseline = pipeline.starts_with("none");
    const Model model =
        baseline ? Baseline(dataset, pipeline) : Fit(Split("calibration"), pipeline).model;
    models.push_back(model);
    StudyFit fit{
        .pipeline = pipeline, .fitted = model.pipeline(), .model = {}, .report = model.report()};
    if (!baseline) {
      fit.model = fmt::format("models/repeat0/{}.json", repeat->fits.size());
      CreateParentFolder(folder + "/" + fit.model);
      model.Save(folder + "/" + fit.model);
    }
    repeat->fits.push_back(fit);
    study.pipelines.push_back({.pipeline = pipeline,
                               .properties = {model.translation_invariant(), model.preserves()},
                               .parameters = model.parameter_counts(),
                               .baseline = baseline});
  }

  void FitAll() {
    StudyRepeat repeat;
    repeat.seed = 1;
    for (const std::string& pipeline : pipelines) AddFit(pipeline, &repeat);
    for (const Case& c : dataset.cases) {
      if (c.split == "calibration") repeat.calibration.push_back(c.id);
      if (c.split == "validation") repeat.validation.push_back(c.id);
      if (c.split == "test") repeat.test.push_back(c.id);
    }
    EvaluateOptions options;
    options.families = {"all"};
    repeat.result = Measure(Split("test"), options);
    study.repeats = {repeat};
  }

  Statistics Compute(const EvaluateResult& result, const std::string& reference) const {
    StatisticsOptions options;
    options.reference = reference;
    options.replicates = 400;
    for (const MetricColumn& column : MetricColumns(result, {}))
      options.metrics.push_back(column.metric);
    for (size_t p = 0; p + 1 < pipelines.size(); ++p) {
      options.pairs.push_back({.first = pipelines[p],
                               .second = pipelines[p + 1],
                               .family = p % 2 == 0 ? "Even pairs" : "Odd pairs"});
    }
    return ComputeStatistics({&result, 1}, options);
  }

  void Audit() {
    for (const PipelineMetrics& pipeline : study.repeats[0].result.pipelines) {
      study.flips.push_back({.pipeline = pipeline.pipeline,
                             .flips = FindValue(pipeline.mean, "flip_rate"),
                             .harmful = FindValue(pipeline.mean, "flips_harmful"),
                             .beneficial = FindValue(pipeline.mean, "flips_beneficial"),
                             .neutral = FindValue(pipeline.mean, "flips_neutral")});
    }
  }

  void VaryBins(int bins) {
    EvaluateOptions options;
    options.families = {"calibration_error"};
    options.metrics["calibration_error"]["bins"] = std::to_string(bins);
    const Statistics statistics = Compute(Measure(Split("test"), options), pipelines[0]);
    for (size_t p = 0; p < pipelines.size(); ++p) {
      study.sensitivity.push_back({.about = Sensitivity::kEceBins,
                                   .value = static_cast<double>(bins),
                                   .pipeline = pipelines[p],
                                   .intervals = statistics.pipelines[p].intervals});
    }
  }

  void Shift() {
    for (const Case& c : dataset.cases) {
      if (c.split != "shift") continue;
      const EvaluateResult shifted = Measure(Split("shift"), {});
      study.shifts.push_back(
          {.name = "shift", .repeats = {shifted}, .statistics = Compute(shifted, pipelines[0])});
      return;
    }
  }

  void Recommend() {
    Recommendation& recommendation = study.recommendation;
    recommendation.score = "nll";
    recommendation.groups = static_cast<int64_t>(study.repeats[0].validation.size());
    for (size_t p = 0; p < pipelines.size(); ++p) {
      const bool chosen = recommendation.pipeline.empty() && !study.pipelines[p].baseline;
      if (chosen) recommendation.pipeline = pipelines[p];
      Candidate candidate;
      candidate.pipeline = pipelines[p];
      candidate.score = FindValue(study.repeats[0].result.pipelines[p].mean, "nll");
      candidate.within = chosen;
      recommendation.candidates.push_back(candidate);
    }
    recommendation.reasons = {"It is the first of the pipelines that were fitted."};
    recommendation.warnings = {"This study was made for a test: its choice means nothing."};
    recommendation.commands = {"segcal apply recommended.json DATASET -o calibrated"};
  }

  void Run() {
    FitAll();
    study.protocol.version = kVersion;
    study.protocol.target = ActiveTarget();
    study.data = Inspect(dataset);
    study.statistics = Compute(study.repeats[0].result, pipelines[0]);
    Audit();
    for (const int bins : {10, 20, 50}) VaryBins(bins);
    Shift();
    Recommend();
    WriteText(folder + "/study.json", ToJson(study));
  }
};

void Make(const std::string& dataset,
          const std::string& folder,
          std::vector<std::string> pipelines) {
  CreateFolder(folder);
  StudyMaker maker{
      .dataset = LoadDataset(dataset), .folder = folder, .pipelines = std::move(pipelines)};
  maker.Run();
  const StudyRun run{.dataset = std::filesystem::absolute(dataset).string(),
                     .shifts = {},
                     .command = "segcal_make_study"};
  WriteText(folder + "/run.json", ToJson(run));
}

}  // namespace
}  // namespace segcal

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: segcal_make_study DATASET FOLDER PIPELINE...\n");
    return 2;
  }
  try {
    segcal::Make(argv[1], argv[2], {argv + 3, argv + argc});
  } catch (const segcal::Error& error) {
    std::fprintf(stderr, "segcal_make_study: %s\n", error.what());
    return 1;
  }
  return 0;
}
