// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/probe_training.h"

#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "methods/selective/selector_problem.h"
#include "optim/adam.h"
#include "optim/plateau.h"
#include "optim/tpe.h"

namespace segcal {
namespace {

using Plain = nlohmann::json;
using Values = std::vector<double>;

std::vector<SearchDimension> SpaceOf(const Plain& in) {
  std::vector<SearchDimension> space;
  for (const Plain& d : in) {
    space.push_back({.name = d.at("name"),
                     .lower = d.value("lower", 0.0),
                     .upper = d.value("upper", 1.0),
                     .log = d.value("log", false),
                     .zero_share = d.value("zero_share", 0.0),
                     .choices = d.value("choices", Values{})});
  }
  return space;
}

double Sphere(const Values& x) {
  double sum = 0.0;
  for (const double v : x) sum += (v - 0.7) * (v - 0.7);
  return sum;
}
double Rosenbrock(const Values& x) {
  return 100.0 * std::pow(x[1] - x[0] * x[0], 2) + std::pow(1.0 - x[0], 2);
}
double Branin(const Values& x) {
  constexpr double kPi = std::numbers::pi;
  const double a = x[1] - 5.1 / (4.0 * kPi * kPi) * x[0] * x[0] + 5.0 / kPi * x[0] - 6.0;
  return a * a + 10.0 * (1.0 - 1.0 / (8.0 * kPi)) * std::cos(x[0]) + 10.0;
}
// As the loss of a training by its rate, patience and decay: log scales, a choice, a zero.
double Training(const Values& x) {
  const double rate = std::log10(x[0]) + 2.5;
  return rate * rate + (x[1] == 20.0 ? 0.0 : 0.3) + std::fabs(x[2] - 0.3);
}

}  // namespace

Plain ProbeAdam(const Plain& in) {
  const AdamOptions options{.weight_decay = in.at("weight_decay"), .decoupled = in.at("decoupled")};
  AdamMoments moments;
  auto x = in.at("start").get<Values>();
  Plain path = Plain::array();
  for (const Plain& gradient : in.at("gradients")) {
    AdamStep(options, in.at("learning_rate"), gradient.get<Values>(), &moments, x);
    path.push_back(x);
  }
  return path;
}

Plain ProbePlateau(const Plain& in) {
  const PlateauOptions options{.factor = in.at("factor"),
                               .patience = in.at("patience"),
                               .threshold = in.at("threshold"),
                               .min_learning_rate = in.at("min_learning_rate")};
  PlateauState state{.learning_rate = in.at("learning_rate")};
  Plain rates = Plain::array();
  for (const double loss : in.at("losses").get<Values>()) {
    UpdatePlateau(options, loss, &state);
    rates.push_back(state.learning_rate);
  }
  return rates;
}

// What is asked next after one history, by each of many seeds.
Plain ProbeSearchAsk(const Plain& in) {
  Plain points = Plain::array();
  for (uint64_t seed = 0; seed < in.at("seeds").get<uint64_t>(); ++seed) {
    TreeParzen tpe(SpaceOf(in.at("space")), seed);
    for (const Plain& trial : in.at("history")) tpe.Tell(trial.at("point"), trial.at("loss"));
    points.push_back(tpe.Ask());
  }
  return points;
}

// The points of whole searches, one per seed.
Plain ProbeSearchRun(const Plain& in) {
  const std::map<std::string, double (*)(const Values&)> functions = {
      {"sphere", Sphere}, {"rosenbrock", Rosenbrock}, {"branin", Branin}, {"training", Training}};
  const auto function = functions.at(in.at("function"));
  Plain runs = Plain::array();
  for (uint64_t seed = 0; seed < in.at("seeds").get<uint64_t>(); ++seed) {
    TreeParzen tpe(SpaceOf(in.at("space")), seed);
    Plain run = Plain::array();
    for (int64_t t = 0; t < in.at("trials").get<int64_t>(); ++t) {
      const Values x = tpe.Ask();
      const double loss = function(x);
      run.push_back({{"point", x}, {"loss", loss}});
      tpe.Tell(x, loss);
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

// Loss, gradient and statistics of the selector on one minibatch of full tiles, and its loss with
// those statistics.
Plain ProbeSelector(const Plain& in) {
  const auto rows = in.at("features").get<std::vector<std::vector<float>>>();
  const auto wrong = in.at("wrong").get<std::vector<int>>();
  const auto parameters = in.at("parameters").get<Values>();
  const auto classes = static_cast<int64_t>(rows[0].size());
  SelectorSample sample(classes);
  std::vector<float> column(static_cast<size_t>(classes * kTileVoxels));
  for (size_t v = 0; v < rows.size(); ++v) {
    for (size_t c = 0; c < rows[v].size(); ++c) column[c * kTileVoxels] = rows[v][c];
    sample.Add(column.data(), wrong[v] != 0);
  }
  const double weight = in.at("weight");
  SelectorProblem problem(sample, sample, {.wrong_weight = weight, .threads = 2});
  std::vector<int64_t> tiles(static_cast<size_t>(sample.num_tiles()));
  std::iota(tiles.begin(), tiles.end(), 0);
  Values gradient(parameters.size(), 0.0);
  const double loss = problem.Evaluate(tiles, parameters, gradient);
  const SelectorStatistics statistics =
      PopulationStatistics(SelectorShape(classes), parameters, sample, 2);
  return {{"loss", loss},
          {"gradient", gradient},
          {"mean", statistics.mean},
          {"variance", statistics.variance},
          {"validation", problem.Validate(parameters)}};
}

}  // namespace segcal
