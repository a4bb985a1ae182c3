// SPDX-License-Identifier: Apache-2.0
#include "study/unit_runner.h"

#include <memory>

#include "calibrators/list.h"
#include "core/throw.h"
#include "pipeline/fit_session.h"
#include "pipeline/spec.h"
#include "segcal/evaluate.h"
#include "segcal/inspect.h"
#include "segcal/methods.h"
#include "segcal/version.h"
#include "study/plan.h"

namespace segcal {
namespace {

std::vector<Pooling> Poolings(const std::vector<std::string>& pipelines) {
  std::vector<Pooling> poolings;
  for (const std::string& pipeline : pipelines) poolings.push_back(ParsePipeline(pipeline).pooling);
  return poolings;
}

// What depends on which models were evaluated together is left out: a study that is resumed
// evaluates fewer at once.
EvaluateResult OfOnePipeline(const EvaluateResult& result, size_t place, const std::string& name) {
  EvaluateResult one = result;
  one.pipelines = {result.pipelines[place]};
  one.pipelines[0].pipeline = name;
  one.renormalised = 0;
  one.warnings.clear();
  return one;
}

}  // namespace

// Everything but the number of threads; what a training draws depends on the memory it has.
std::string UnitRunner::FitKey(const Partition& partition, const std::string& pipeline) const {
  if (!store_.keeps()) return {};
  if (!NeedsFit(pipeline))
    return fmt::format("segcal {} {} {}", kVersion, ActiveTarget(), pipeline);
  const bool trained =
      FindCalibrator(ParsePipeline(pipeline).stages.front()).search == SearchBy::kTraining;
  return fmt::format(
      "segcal {} {} fit {} calibration {} validation {} seed {} search {} select {}{}",
      kVersion,
      ActiveTarget(),
      pipeline,
      DataKey(partition.calibration),
      DataKey(partition.validation),
      partition.seed,
      options_.search ? fmt::format("{}", *options_.search) : "default",
      Name(options_.select),
      trained ? fmt::format(" memory {}", options_.run.memory) : "");
}

std::string UnitRunner::EvaluateKey(const std::string& fit,
                                    const std::string& data,
                                    const EvaluateOptions& options) const {
  if (!store_.keeps()) return {};
  std::string settings;
  for (const auto& [family, values] : options.metrics) {
    for (const auto& [key, value] : values)
      settings += fmt::format(" {}.{}={}", family, key, value);
  }
  return fmt::format(
      "{} evaluate {} families {}{}", fit, data, fmt::join(options.families, ","), settings);
}

// Reasons name files as the data set does: the study is the same wherever it lies.
void UnitRunner::Fail(int64_t repeat,
                      const std::string& pipeline,
                      const std::string& stage,
                      const Error& error,
                      const std::string& folder) {
  std::string reason = error.what();
  const std::string prefix = folder.empty() ? "" : folder + "/";
  for (size_t at = 0; !prefix.empty() && (at = reason.find(prefix, at)) != std::string::npos;)
    reason.erase(at, prefix.size());
  failures_.push_back({repeat, pipeline, stage, reason});
}

std::optional<Model> UnitRunner::FindModel(const std::string& key, const std::string& unit) {
  const std::optional<UnitStore::Unit> found = store_.Find(key);
  if (!found) return std::nullopt;
  progress_->Skip(unit, found->seconds);
  return Model::FromJson(found->text, unit);
}

FittedModels UnitRunner::Fit(const Partition& partition,
                             const std::vector<std::string>& pipelines,
                             int64_t repeat,
                             const std::string& what) {
  FittedModels fitted;
  std::unique_ptr<FitSession> session;
  for (const std::string& pipeline : pipelines) {
    const std::string key = FitKey(partition, pipeline);
    const std::string unit = fmt::format("{}, fit {}", what, pipeline);
    fitted.pipelines.push_back(pipeline);
    fitted.keys.push_back(key);
    std::optional<Model>& model = fitted.models.emplace_back();
    if (!NeedsFit(pipeline)) {
      model = Baseline(partition.calibration, pipeline);
      continue;
    }
    model = FindModel(key, unit);
    if (model) continue;
    progress_->Begin(unit);
    try {
      if (!session) {
        session = std::make_unique<FitSession>(partition.calibration,
                                               partition.validation,
                                               Poolings(pipelines),
                                               SessionOptions{.run = options_.run,
                                                              .seed = partition.seed,
                                                              .search = options_.search,
                                                              .select = options_.select});
      }
      model = session->Fit(ParsePipeline(pipeline), {.path = store_.PartFile(key), .resume = true});
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      Fail(repeat, pipeline, what + ", fit", error, partition.calibration.folder);
    }
    const double seconds = progress_->End();
    if (model) store_.Keep(key, {.text = model->ToJson(), .seconds = seconds});
    store_.RemovePart(key);
  }
  return fitted;
}

std::vector<std::optional<EvaluateResult>> UnitRunner::Evaluate(const FittedModels& fitted,
                                                                const Dataset& cases,
                                                                const EvaluateOptions& options,
                                                                int64_t repeat,
                                                                const std::string& what) {
  std::vector<std::optional<EvaluateResult>> results(fitted.models.size());
  const std::string data = store_.keeps() ? DataKey(cases) : "";
  std::vector<size_t> missing;
  for (size_t m = 0; m < fitted.models.size(); ++m) {
    if (!fitted.models[m]) {
      progress_->Forget(1);
      continue;
    }
    const std::string unit = fmt::format("{}, evaluate {}", what, fitted.pipelines[m]);
    const auto found = store_.Find(EvaluateKey(fitted.keys[m], data, options));
    if (found) {
      progress_->Skip(unit, found->seconds);
      results[m] = EvaluateResultFromJson(found->text, unit);
    } else {
      missing.push_back(m);
    }
  }
  const auto evaluate = [&](const std::vector<size_t>& some) {
    std::vector<Model> models;
    for (const size_t m : some) models.push_back(*fitted.models[m]);
    const EvaluateResult together = segcal::Evaluate(cases, models, options);
    const auto count = static_cast<int64_t>(some.size());
    const double seconds = progress_->End(count) / static_cast<double>(count);
    for (size_t i = 0; i < some.size(); ++i) {
      const size_t m = some[i];
      results[m] = OfOnePipeline(together, i, fitted.pipelines[m]);
      store_.Keep(EvaluateKey(fitted.keys[m], data, options),
                  {.text = ToJson(*results[m]), .seconds = seconds});
    }
  };
  if (missing.empty()) return results;
  try {
    progress_->Begin(fmt::format("{}, evaluate", what));
    evaluate(missing);
    return results;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
  }
  // Some of them may go.
  for (const size_t m : missing) {
    progress_->Begin(fmt::format("{}, evaluate {}", what, fitted.pipelines[m]));
    try {
      evaluate({m});
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      progress_->End();
      Fail(repeat, fitted.pipelines[m], what + ", evaluate", error, cases.folder);
    }
  }
  return results;
}

DatasetSummary UnitRunner::Inspect(const Dataset& dataset) {
  const std::string key =
      store_.keeps()
          ? fmt::format("segcal {} {} inspect {}", kVersion, ActiveTarget(), DataKey(dataset))
          : "";
  const std::string unit = "inspect";
  if (const auto found = store_.Find(key)) {
    progress_->Skip(unit, found->seconds);
    return DatasetSummaryFromJson(found->text, unit);
  }
  progress_->Begin(unit);
  RunOptions run = options_.run;
  run.progress = {};
  const DatasetSummary summary = segcal::Inspect(dataset, run);
  store_.Keep(key, {.text = ToJson(summary), .seconds = progress_->End()});
  return summary;
}

EvaluateResult JoinPipelines(const std::vector<EvaluateResult>& single) {
  EvaluateResult joined = single.front();
  joined.pipelines.clear();
  for (const EvaluateResult& result : single) joined.pipelines.push_back(result.pipelines.front());
  return joined;
}

}  // namespace segcal
