// SPDX-License-Identifier: Apache-2.0
#include "methods/training/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/json.h"
#include "core/progress.h"
#include "core/throw.h"
#include "methods/training/training_trials.h"
#include "optim/halving_pruner.h"
#include "optim/tpe.h"

namespace segcal {
namespace {

// Share of the trials without weight decay before anything is known.
constexpr double kZeroDecayShare = 0.25;

// What is searched (S0 App. B), less what the caller fixed.
std::vector<SearchDimension> TrainingSpace(const std::vector<std::string>& fixed) {
  std::vector<SearchDimension> space = {
      {.name = "learning_rate", .lower = 1e-4, .upper = 3e-2, .log = true},
      {.name = "patience", .choices = {10, 20, 50}},
      {.name = "weight_decay",
       .lower = 1e-6,
       .upper = 1e-2,
       .log = true,
       .zero_share = kZeroDecayShare}};
  std::erase_if(space, [&](const SearchDimension& d) {
    return std::find(fixed.begin(), fixed.end(), d.name) != fixed.end();
  });
  return space;
}

double OptionValue(const TrainOptions& options, const std::string& name) {
  if (name == "learning_rate") return options.adam.learning_rate;
  if (name == "patience") return static_cast<double>(options.patience);
  return options.adam.weight_decay;
}

void SetValue(const std::string& name, double value, TrainOptions* options) {
  if (name == "learning_rate") {
    options->adam.learning_rate = value;
  } else if (name == "patience") {
    options->patience = static_cast<int64_t>(value);
  } else {
    options->adam.weight_decay = value;
  }
}

std::vector<double> BestSoFar(const std::vector<TrainEpoch>& history, double start) {
  std::vector<double> best;
  for (const TrainEpoch& epoch : history) {
    start = std::min(start, epoch.validation_loss);
    best.push_back(start);
  }
  return best;
}

// The trials of one job, in order; those that a checkpoint kept are not run again.
class TrainingSearch {
 public:
  TrainingSearch(const FitContext& context, const TrainingJob& job)
      : context_(context),
        job_(job),
        num_trials_(std::max<int64_t>(1, context.trials)),
        space_(context.trials > 0 ? TrainingSpace(context.fixed_options)
                                  : std::vector<SearchDimension>{}),
        tpe_(space_, context.seed) {
    if (space_.empty()) num_trials_ = 1;
    if (context.checkpoint != nullptr) Resume();
  }

  TrainedFit Run() {
    for (int64_t t = 0; t < num_trials_; ++t) {
      std::vector<double> point = Propose(t);
      const TrainOptions options = OptionsAt(point);
      if (t >= static_cast<int64_t>(trials_.finished.size())) {
        trials_.Finish(RunTrial(t, options));
        Keep(nullptr);
      }
      Learn(t, std::move(point));
    }
    return Result();
  }

 private:
  std::vector<double> Propose(int64_t t) {
    std::vector<double> point;
    if (t > 0) {
      point = tpe_.Ask();
    } else {
      for (const SearchDimension& d : space_) point.push_back(OptionValue(job_.options, d.name));
    }
    for (double& value : point) value = SixDigits(value);
    return point;
  }

  TrainOptions OptionsAt(const std::vector<double>& point) const {
    TrainOptions options = job_.options;
    for (size_t d = 0; d < space_.size(); ++d) SetValue(space_[d].name, point[d], &options);
    return options;
  }

  TrainResult RunTrial(int64_t t, const TrainOptions& options) {
    const auto go_on = [&](const TrainState& now) {
      return !pruner_.ShouldPrune(now.epochs(), now.best_loss);
    };
    TrainState state;
    if (trials_.running) {
      state = *std::exchange(trials_.running, std::nullopt);
      // The state was kept before the trial was judged.
      if (state.epochs() > 0 && !go_on(state)) {
        return {.state = std::move(state), .stopped_by = TrainStop::kHook};
      }
    } else {
      state = StartTraining(job_.problem, job_.start, options);
    }
    ShowProgress(t, options, state);
    return Train(job_.problem, std::move(state), options, [&](const TrainState& now) {
      Keep(&now);  // first: whoever is told of an epoch may stop, and goes on from it
      ShowProgress(t, options, now);
      return go_on(now);
    });
  }

  void Learn(int64_t t, std::vector<double> point) {
    const TrainResult& trial = trials_.finished[static_cast<size_t>(t)];
    const bool pruned = trial.stopped_by == TrainStop::kHook;
    pruner_.AddEnded(BestSoFar(trial.state.history, trial.state.start_loss));
    if (!space_.empty()) {
      SearchTrial entry{.options = {},
                        .validation_nll = trial.state.best_loss,
                        .epochs = trial.state.epochs(),
                        .pruned = pruned};
      for (size_t d = 0; d < space_.size(); ++d) {
        entry.options[space_[d].name] = FormatField(point[d]);
      }
      report_.trials.push_back(std::move(entry));
    }
    tpe_.Tell(std::move(point), trial.state.best_loss);
  }

  TrainedFit Result() {
    const auto index = static_cast<size_t>(trials_.best);
    const TrainResult& best = trials_.finished[index];
    TrainedFit fit;
    fit.parameters = best.state.best_parameters;
    fit.report.epochs = best.state.epochs();
    fit.report.best_epoch = best.state.best_epoch;
    fit.report.stopped_by = best.stopped_by;
    fit.report.start_nll = best.state.start_loss;
    fit.report.validation_nll = best.state.best_loss;
    fit.report.history = best.state.history;
    for (const TrainResult& trial : trials_.finished)
      fit.report.total_epochs += trial.state.epochs();
    if (!report_.trials.empty()) report_.chosen = report_.trials[index].options;
    fit.search = std::move(report_);
    return fit;
  }

  void ShowProgress(int64_t t, const TrainOptions& options, const TrainState& state) const {
    if (!context_.stream.options().shows_progress || !ProgressIsHeard()) return;
    std::string stage = "train " + job_.name;
    if (num_trials_ > 1) stage += fmt::format(", trial {} of {}", t + 1, num_trials_);
    std::string detail = fmt::format("start, validation {:.5f}", state.start_loss);
    if (state.epochs() > 0) {
      const TrainEpoch& last = state.history.back();
      detail = fmt::format("epoch {}, loss {:.5f}, validation {:.5f} (best {:.5f}), rate {:.2g}",
                           state.epochs(),
                           last.training_loss,
                           last.validation_loss,
                           state.best_loss,
                           last.learning_rate);
    }
    ReportProgress({.stage = std::move(stage),
                    .done = state.epochs(),
                    .total = options.max_epochs,
                    .detail = std::move(detail)});
  }

  void Keep(const TrainState* running) const {
    if (context_.checkpoint == nullptr) return;
    context_.checkpoint->Save(job_.name, TrialsToJson(trials_, running));
  }

  void Resume() {
    const Json* kept = context_.checkpoint->Find(job_.name);
    if (kept == nullptr) return;
    const std::string where = context_.checkpoint->path() + ": " + job_.name;
    trials_ = TrialsFromJson(*kept, job_.problem->num_parameters(), where);
    if (trials_.running) {
      CheckKept(*trials_.running, where);
    } else if (trials_.best >= 0) {
      CheckKept(trials_.finished[static_cast<size_t>(trials_.best)].state, where);
    }
  }

  // Files may have changed though their names did not: the kept loss must come out again.
  void CheckKept(const TrainState& kept, const std::string& where) const {
    const double loss = job_.problem->Validate(kept.best_parameters);
    // One that is not finite is kept as infinite, whatever it was.
    if (loss == kept.best_loss || (std::isinf(kept.best_loss) && !std::isfinite(loss))) return;
    Throw(ErrorCode::kBadData,
          "{}: the kept parameters have validation loss {}, here it is {}: the data have changed",
          where,
          kept.best_loss,
          loss);
  }

  const FitContext& context_;
  const TrainingJob& job_;
  int64_t num_trials_;
  std::vector<SearchDimension> space_;
  TreeParzen tpe_;
  HalvingPruner pruner_;
  TrainingTrials trials_;
  SearchReport report_;
};

}  // namespace

TrainOptions EngineOptions(const TrainingOptions& options, bool decoupled) {
  TrainOptions engine;
  engine.adam.learning_rate = options.learning_rate;
  engine.adam.weight_decay = options.weight_decay;
  engine.adam.decoupled = decoupled;
  engine.max_epochs = options.epochs;
  engine.patience = options.patience;
  return engine;
}

TrainedFit FitByTraining(const FitContext& context, const TrainingJob& job) {
  return TrainingSearch(context, job).Run();
}

}  // namespace segcal
