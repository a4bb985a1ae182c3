// SPDX-License-Identifier: Apache-2.0
#include "methods/affine_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "optim/tpe.h"

namespace segcal {
namespace {

// A trial is compared, not kept: this is close enough to its optimum.
constexpr double kTrialTolerance = 1e-4;
constexpr int64_t kTrialPasses = 6;

// Share of the trials at exactly zero before anything is known.
constexpr double kZeroShare = 0.25;

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

// What one fold needs through all trials. The fold that trains on all the data shares its problem.
struct FoldState {
  AffineProblem* problem = nullptr;
  std::unique_ptr<AffineProblem> own;
  const CaseStream* validation = nullptr;
  ExpertParameters best;
  ExpertParameters trial;
};

std::vector<FoldState> StatesOf(const AffineShape& shape,
                                const Box& box,
                                AffineProblem* problem,
                                const FitContext& context,
                                const ExpertParameters& start) {
  std::vector<FoldState> states;
  for (const SearchFold& fold : context.folds) {
    FoldState& state = states.emplace_back();
    if (fold.training != nullptr) {
      state.own = std::make_unique<AffineProblem>(shape, box, *fold.training);
    }
    state.problem = state.own ? state.own.get() : problem;
    state.validation = fold.validation;
    state.best = start;
  }
  return states;
}

}  // namespace

SearchReport SearchPenalty(const AffineShape& shape,
                           const Box& box,
                           AffineProblem* problem,
                           const FitContext& context,
                           Penalty* penalty,
                           ExpertParameters* parameters) {
  SearchReport report;
  const std::vector<Knob> knobs = FreeKnobs(shape, context.fixed_options);
  if (knobs.empty() || context.folds.empty()) return report;
  std::vector<SearchDimension> dimensions;
  dimensions.reserve(knobs.size());
  for (const Knob& knob : knobs) {
    dimensions.push_back(
        {.name = knob.name, .lower = 1e-6, .upper = 1e-1, .log = true, .zero_share = kZeroShare});
  }
  TreeParzen tpe(dimensions, context.seed);
  std::vector<FoldState> folds = StatesOf(shape, box, problem, context, *parameters);
  double best = std::numeric_limits<double>::infinity();
  for (int64_t t = 0; t < context.trials; ++t) {
    std::vector<double> point;
    Penalty trial = *penalty;
    if (t == 0) {
      for (const Knob& knob : knobs) point.push_back(trial.*knob.value);
    } else {
      point = tpe.Ask();
    }
    SearchTrial entry;
    for (size_t k = 0; k < knobs.size(); ++k) {
      trial.*knobs[k].value = point[k];
      entry.options[knobs[k].name] = fmt::format("{:.6g}", point[k]);
    }
    double loss = 0.0;
    for (FoldState& fold : folds) {
      AffineSolution solution =
          t == 0 ? fold.problem->Solve(trial, fold.best, kTrialTolerance, kTrialPasses)
                 : fold.problem->Resolve(trial, fold.best, kTrialTolerance, kTrialPasses);
      if (t == 0) fold.problem->KeepCurvature(solution.parameters);
      loss += MeanLoss(*fold.validation, context.pooling, shape, solution.parameters) /
              static_cast<double>(folds.size());
      fold.trial = std::move(solution.parameters);
      report.passes += solution.result.passes;
    }
    entry.validation_nll = loss;
    report.trials.push_back(entry);
    tpe.Tell(point, loss);
    if (!(loss < best)) continue;
    best = loss;
    report.chosen = entry.options;
    for (FoldState& fold : folds) fold.best = fold.trial;
  }
  for (const auto& [name, value] : report.chosen) {
    for (const Knob& knob : knobs) {
      if (name == knob.name) penalty->*knob.value = std::stod(value);
    }
  }
  if (!folds[0].own) *parameters = folds[0].best;
  return report;
}

}  // namespace segcal
