// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_search.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "core/options.h"
#include "core/throw.h"
#include "optim/tpe.h"

namespace segcal {
namespace {

// A trial is compared, not kept: this is close enough to its optimum. One that is not there after a
// few passes goes on only if it is the best so far: stopped early, a map that would overfit looks
// good.
constexpr double kTrialTolerance = 1e-4;
constexpr int64_t kTrialPasses = 6;
constexpr int64_t kLeaderPasses = 40;

// Validation losses of trials are known to about this, solved as they are. The search does not
// choose by less.
constexpr double kTie = 2e-5;

// Share of the trials at exactly zero before anything is known.
constexpr double kZeroPenaltyShare = 0.25;

// One searched number of the penalty.
struct Knob {
  const char* name;
  double Penalty::*value;
};
constexpr Knob kKnobs[] = {
    {"lambda", &Penalty::lambda}, {"mu", &Penalty::mu}, {"kappa", &Penalty::kappa}};

std::vector<Knob> FreeKnobs(const AffineShape& shape, const std::vector<std::string>& fixed) {
  std::vector<Knob> free;
  for (const Knob& knob : kKnobs) {
    if (std::find(fixed.begin(), fixed.end(), knob.name) != fixed.end()) continue;
    // A diagonal map has no weights for lambda to shrink.
    if (shape.diagonal && std::string(knob.name) == "lambda") continue;
    free.push_back(knob);
  }
  return free;
}

// Of two penalties with the same loss, the one that holds the map more.
bool HoldsMore(const Penalty& a, const Penalty& b) {
  if (a.kappa != b.kappa) return a.kappa > b.kappa;
  if (a.lambda != b.lambda) return a.lambda > b.lambda;
  return a.mu > b.mu;
}

// Of the trials within kTie of the lowest loss, the first one, whose penalty was given, else the
// one that holds the map most. The order of the others does not matter.
size_t ChooseTrial(const std::vector<SearchTrial>& trials, const std::vector<Penalty>& penalties) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const SearchTrial& trial : trials) lowest = std::min(lowest, trial.validation_nll);
  const auto ties = [&](size_t t) { return trials[t].validation_nll <= lowest + kTie; };
  if (ties(0)) return 0;
  std::optional<size_t> best;
  for (size_t t = 1; t < trials.size(); ++t) {
    if (ties(t) && (!best || HoldsMore(penalties[t], penalties[*best]))) best = t;
  }
  return best.value_or(0);
}

// What one fold needs through all trials. The fold that trains on all the data shares its problem.
struct FoldState {
  AffineProblem* problem = nullptr;
  std::unique_ptr<AffineProblem> own;
  const CaseStream* validation = nullptr;
  ExpertParameters best;
  ExpertParameters trial;
  LossTotal best_loss;  // on the cases held out
  LossTotal trial_loss;
};

// `problem` has kept its curvature.
std::vector<FoldState> MakeStates(AffineProblem* problem,
                                  const FitContext& context,
                                  const ExpertParameters& start) {
  std::vector<FoldState> states;
  int64_t bytes = problem->bytes();
  for (const SearchFold& fold : context.folds) {
    FoldState& state = states.emplace_back();
    if (fold.training != nullptr)
      state.own = std::make_unique<AffineProblem>(*problem, *fold.training);
    state.problem = state.own ? state.own.get() : problem;
    state.validation = fold.validation;
    state.best = start;
    bytes += state.own ? state.own->bytes() : 0;
  }
  CheckProblemMemory(bytes, context.stream.memory());
  return states;
}

std::vector<SearchDimension> PenaltySpace(const std::vector<Knob>& knobs) {
  std::vector<SearchDimension> dimensions;
  dimensions.reserve(knobs.size());
  for (const Knob& knob : knobs) {
    dimensions.push_back({.name = knob.name,
                          .lower = 1e-6,
                          .upper = kLargestPenalty,
                          .log = true,
                          .zero_share = kZeroPenaltyShare});
  }
  return dimensions;
}

LossTotal Sum(const LossTotal& a, const LossTotal& b) {
  return {.loss = a.loss + b.loss, .voxels = a.voxels + b.voxels};
}

// Fits of all folds with one penalty after another.
class Trials {
 public:
  Trials(const AffineShape& shape,
         AffineProblem* problem,
         const FitContext& context,
         ExpertParameters start)
      : shape_(shape), problem_(problem), context_(context), start_(std::move(start)) {}

  // Their mean loss over held-out voxels with this penalty, from the best maps so far. One that
  // falls behind is given up: its loss is then that of the best and what it has lost so far.
  double ValidationLoss(const Penalty& penalty, double best) {
    const bool first = folds_.empty();
    converged_ = true;
    if (first) SolveWhole(penalty);
    for (size_t k = 0; k < folds_.size(); ++k) {
      FoldState& fold = folds_[k];
      if (!first || fold.own)
        Take(&fold, fold.problem->Resolve(penalty, fold.best, kTrialTolerance, kTrialPasses));
      if (first || k + 1 == folds_.size()) continue;
      const double behind = Behind(k + 1);
      if (behind > 0.0) return best + behind;
    }
    const double loss = HeldOutLoss();
    return loss < best && !converged_ ? GoOn(penalty) : loss;
  }

  void KeepBest() {
    for (FoldState& fold : folds_) {
      fold.best = fold.trial;
      fold.best_loss = fold.trial_loss;
    }
  }
  // Maps of all the data: the best ones, or where folds are held out those of the first trial.
  const ExpertParameters& Whole() const { return folds_[0].own ? whole_ : folds_[0].best; }
  int64_t passes() const noexcept { return passes_; }

 private:
  // On all the data first: its curvature is what trials go by. Folds start where it did, since its
  // maps have seen the cases that they hold out.
  void SolveWhole(const Penalty& penalty) {
    AffineSolution solution = problem_->Solve(penalty, start_, kTrialTolerance, kTrialPasses);
    problem_->KeepCurvature(solution.parameters);
    whole_ = solution.parameters;
    folds_ = MakeStates(problem_, context_, start_);
    if (folds_[0].own) {
      passes_ += solution.passes;
    } else {
      Take(&folds_[0], std::move(solution));
    }
  }

  double GoOn(const Penalty& penalty) {
    for (FoldState& fold : folds_)
      Take(&fold, fold.problem->Resolve(penalty, fold.trial, kTrialTolerance, kLeaderPasses));
    return HeldOutLoss();
  }

  void Take(FoldState* fold, AffineSolution solution) {
    for (const ExpertSolution& expert : solution.result.experts)
      converged_ = converged_ && expert.converged;
    passes_ += solution.passes;
    fold->trial = std::move(solution.parameters);
    fold->trial_loss = TotalLoss(*fold->validation, context_.pooling, shape_, fold->trial);
  }

  // How much worse the trial is than the best one on so many folds, if that is no tie and most of
  // them, two at least, are worse; else 0.
  double Behind(size_t count) const {
    LossTotal trial;
    LossTotal best;
    size_t worse = 0;
    for (size_t k = 0; k < count; ++k) {
      const FoldState& fold = folds_[k];
      worse += fold.trial_loss.loss > fold.best_loss.loss ? 1 : 0;
      trial = Sum(trial, fold.trial_loss);
      best = Sum(best, fold.best_loss);
    }
    const double behind = (trial.loss - best.loss) / std::max(1.0, trial.voxels);
    return worse >= 2 && 2 * worse > count && behind > kTie ? behind : 0.0;
  }

  double HeldOutLoss() const {
    LossTotal total;
    for (const FoldState& fold : folds_) total = Sum(total, fold.trial_loss);
    if (total.voxels == 0.0) {
      Throw(ErrorCode::kBadData,
            "the cases to choose penalties by have no labelled voxel; with option search 0 none "
            "are chosen");
    }
    return total.loss / total.voxels;
  }

  const AffineShape& shape_;
  AffineProblem* problem_;
  const FitContext& context_;
  const ExpertParameters start_;
  ExpertParameters whole_;
  std::vector<FoldState> folds_;  // empty before the first trial
  bool converged_ = true;
  int64_t passes_ = 0;
};

}  // namespace

SearchReport SearchPenalty(const AffineShape& shape,
                           AffineProblem* problem,
                           const FitContext& context,
                           Penalty* penalty,
                           ExpertParameters* parameters) {
  SearchReport report;
  const std::vector<Knob> knobs = FreeKnobs(shape, context.fixed_options);
  if (knobs.empty() || context.folds.empty()) return report;
  TreeParzen tpe(PenaltySpace(knobs), context.seed);
  Trials trials(shape, problem, context, *parameters);
  const Penalty given = *penalty;
  std::vector<Penalty> tried;
  double best = std::numeric_limits<double>::infinity();
  for (int64_t t = 0; t < context.trials; ++t) {
    std::vector<double> point;
    if (t == 0) {
      for (const Knob& knob : knobs) point.push_back(given.*knob.value);
    } else {
      point = tpe.Ask();
    }
    Penalty trial = given;
    SearchTrial entry;
    for (size_t k = 0; k < knobs.size(); ++k) {
      trial.*knobs[k].value = SixDigits(point[k]);
      entry.options[knobs[k].name] = FormatField(SixDigits(point[k]));
    }
    entry.validation_nll = trials.ValidationLoss(trial, best);
    report.trials.push_back(entry);
    tpe.Tell(point, entry.validation_nll);
    tried.push_back(trial);
    if (!(entry.validation_nll < best)) continue;
    best = entry.validation_nll;
    trials.KeepBest();
  }
  const size_t chosen = ChooseTrial(report.trials, tried);
  *penalty = tried[chosen];
  report.chosen = report.trials[chosen].options;
  report.passes = trials.passes();
  *parameters = trials.Whole();
  return report;
}

}  // namespace segcal
