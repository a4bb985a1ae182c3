// SPDX-License-Identifier: Apache-2.0
#include "study/unit_runner.h"

#include <algorithm>

#include "calibrators/list.h"
#include "core/parallel.h"
#include "core/parallel_pool.h"
#include "core/throw.h"
#include "pipeline/spec.h"
#include "segcal/evaluate.h"
#include "segcal/inspect.h"
#include "segcal/methods.h"
#include "segcal/version.h"
#include "study/plan.h"

namespace segcal {
namespace {

// Of the memory, what a fit beside others should have at least.
constexpr int64_t kMemoryOfOne = int64_t{256} << 20;

std::vector<Pooling> Poolings(const std::vector<std::string>& pipelines) {
  std::vector<Pooling> poolings;
  for (const std::string& pipeline : pipelines) poolings.push_back(ParsePipeline(pipeline).pooling);
  return poolings;
}

// What a training draws depends on the memory it has.
bool IsTrained(const std::string& pipeline) {
  const std::vector<std::string> stages = ParsePipeline(pipeline).stages;
  return std::any_of(stages.begin(), stages.end(), [](const std::string& stage) {
    return FindCalibrator(stage).default_options().contains("epochs");
  });
}

std::string FitUnit(const std::string& what, const std::string& pipeline) {
  return fmt::format("{}, fit {}", what, pipeline);
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

// Everything but the number of threads.
std::string UnitRunner::FitKey(const Partition& partition, const std::string& pipeline) const {
  if (!store_.keeps()) return {};
  if (!NeedsFit(pipeline))
    return fmt::format("segcal {} {} {}", kVersion, ActiveTarget(), pipeline);
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
      IsTrained(pipeline) ? fmt::format(" memory {}", options_.run.memory) : "");
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

// The pipelines, and of each the model that was kept or has no parameters; else none yet.
FittedModels UnitRunner::FindFitted(const Partition& partition,
                                    const std::vector<std::string>& pipelines,
                                    const std::string& what) {
  FittedModels fitted;
  for (const std::string& pipeline : pipelines) {
    fitted.pipelines.push_back(pipeline);
    fitted.keys.push_back(FitKey(partition, pipeline));
    fitted.models.push_back(NeedsFit(pipeline)
                                ? FindModel(fitted.keys.back(), FitUnit(what, pipeline))
                                : Baseline(partition.calibration, pipeline));
  }
  return fitted;
}

std::unique_ptr<FitSession> UnitRunner::MakeSession(
    const Partition& partition, const std::vector<std::string>& pipelines) const {
  return std::make_unique<FitSession>(partition.calibration,
                                      partition.validation,
                                      Poolings(pipelines),
                                      SessionOptions{.run = options_.run,
                                                     .seed = partition.seed,
                                                     .search = options_.search,
                                                     .select = options_.select});
}

// How many fits may go on at the same time.
int UnitRunner::FitsAtOnce(size_t fits) const {
  const int64_t threads = options_.run.threads > 0 ? options_.run.threads : AvailableThreads();
  const int64_t affordable = std::max<int64_t>(1, options_.run.memory / kMemoryOfOne);
  return static_cast<int>(std::min({threads, affordable, static_cast<int64_t>(fits)}));
}

void UnitRunner::FitOne(FitSession* session,
                        FittedModels* fitted,
                        size_t p,
                        const std::string& what) {
  const std::string& pipeline = fitted->pipelines[p];
  const std::string& key = fitted->keys[p];
  const int64_t unit = progress_->Begin(FitUnit(what, pipeline));
  try {
    fitted->models[p] =
        session->Fit(ParsePipeline(pipeline), {.path = store_.PartFile(key), .resume = true});
  } catch (...) {
    progress_->Drop(unit);
    throw;
  }
  store_.Keep(key, {.text = fitted->models[p]->ToJson(), .seconds = progress_->End(unit)});
  store_.RemovePart(key);
}

// What does not depend on the memory it has, several at a time. What fails with a share of the
// memory is left for later: alone it may go.
void UnitRunner::FitSideBySide(FitSession* session, FittedModels* fitted, const std::string& what) {
  std::vector<size_t> places;
  for (size_t p = 0; p < fitted->models.size(); ++p) {
    if (!fitted->models[p] && !IsTrained(fitted->pipelines[p])) places.push_back(p);
  }
  const int at_once = FitsAtOnce(places.size());
  if (at_once < 2) return;
  session->ShareMemory(at_once);
  ParallelFor(std::ssize(places), at_once, [&](int64_t i, int) {
    const ThreadLimit limit(at_once);
    try {
      FitOne(session, fitted, places[static_cast<size_t>(i)], what);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
    }
  });
  session->ShareMemory(1);
}

FittedModels UnitRunner::Fit(const Partition& partition,
                             const std::vector<std::string>& pipelines,
                             int64_t repeat,
                             const std::string& what) {
  FittedModels fitted = FindFitted(partition, pipelines, what);
  const auto is_there = [](const std::optional<Model>& model) { return model.has_value(); };
  if (std::all_of(fitted.models.begin(), fitted.models.end(), is_there)) return fitted;
  const auto fail = [&](size_t p, const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    Fail(repeat, pipelines[p], what + ", fit", error, partition.calibration.folder);
    progress_->Forget(1);
    store_.RemovePart(fitted.keys[p]);
  };
  std::unique_ptr<FitSession> session;
  for (size_t p = 0; p < pipelines.size(); ++p) {
    if (fitted.models[p]) continue;
    try {
      if (!session) {
        session = MakeSession(partition, pipelines);
        FitSideBySide(session.get(), &fitted, what);
      }
      if (!fitted.models[p]) FitOne(session.get(), &fitted, p, what);
    } catch (const Error& error) {
      fail(p, error);
    }
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
  const auto evaluate = [&](const std::vector<size_t>& some, const std::string& title) {
    const int64_t unit = progress_->Begin(title);
    std::vector<Model> models;
    for (const size_t m : some) models.push_back(*fitted.models[m]);
    EvaluateResult together;
    try {
      together = segcal::Evaluate(cases, models, options);
    } catch (...) {
      progress_->Drop(unit);
      throw;
    }
    const auto count = static_cast<int64_t>(some.size());
    const double seconds = progress_->End(unit, count) / static_cast<double>(count);
    for (size_t i = 0; i < some.size(); ++i) {
      const size_t m = some[i];
      results[m] = OfOnePipeline(together, i, fitted.pipelines[m]);
      store_.Keep(EvaluateKey(fitted.keys[m], data, options),
                  {.text = ToJson(*results[m]), .seconds = seconds});
    }
  };
  if (missing.empty()) return results;
  try {
    evaluate(missing, fmt::format("{}, evaluate", what));
    return results;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
  }
  // Some of them may go.
  for (const size_t m : missing) {
    try {
      evaluate({m}, fmt::format("{}, evaluate {}", what, fitted.pipelines[m]));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      progress_->Forget(1);
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
  const int64_t number = progress_->Begin(unit);
  RunOptions run = options_.run;
  run.progress = {};
  const DatasetSummary summary = segcal::Inspect(dataset, run);
  store_.Keep(key, {.text = ToJson(summary), .seconds = progress_->End(number)});
  return summary;
}

EvaluateResult JoinPipelines(const std::vector<EvaluateResult>& single) {
  EvaluateResult joined = single.front();
  joined.pipelines.clear();
  for (const EvaluateResult& result : single) joined.pipelines.push_back(result.pipelines.front());
  return joined;
}

}  // namespace segcal
