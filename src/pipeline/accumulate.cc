// SPDX-License-Identifier: Apache-2.0
#include "segcal/accumulate.h"

#include <utility>

#include "core/progress.h"
#include "core/throw.h"
#include "pipeline/accumulators.h"
#include "pipeline/compatible.h"
#include "pipeline/evaluate.h"
#include "pipeline/run.h"

namespace segcal {
struct MetricSums::State {
  // The counts beside the metrics.
  struct Counts {
    int64_t cases = 0;
    int64_t voxels = 0;
    int64_t labelled = 0;

    static constexpr auto SumFields() {
      return std::tuple(&Counts::cases, &Counts::voxels, &Counts::labelled);
    }
  };
  // Everything that is added up.
  struct Totals {
    Counts counts;
    Accumulators metrics;

    static constexpr auto SumFields() { return std::tuple(&Totals::counts, &Totals::metrics); }
  };

  Model model;
  std::vector<std::string> classes;
  MetricContext context;
  EvaluateOptions options;
  MetricSelection selection;
  Totals totals;

  Accumulators NoMetrics() const { return Accumulators(context, selection); }
  Totals Unpacked(std::string_view bytes) const {
    Totals part{.counts = {}, .metrics = NoMetrics()};
    UnpackAllSums(bytes, &part);
    return part;
  }
  // To be completed and looked at, while the sums themselves go on.
  Accumulators Completed() const {
    Accumulators metrics = Unpacked(PackedSums(totals)).metrics;
    metrics.Complete();
    return metrics;
  }
  // What must be the same for sums to add up: the lists of families, and what they were told.
  bool AddsUpWith(const State& other) const {
    return model.ToJson() == other.model.ToJson() && classes == other.classes &&
           context.background == other.context.background &&
           options.metrics == other.options.metrics &&
           SelectedFamilies(options) == SelectedFamilies(other.options);
  }
};

MetricSums::MetricSums(const Model& model, const Dataset& like, const EvaluateOptions& options) {
  const MetricContext context{.num_classes = like.num_classes(),
                              .background = like.background.value_or(-1)};
  MetricSelection selection = SelectMetrics(options);
  State::Totals totals{.counts = {}, .metrics = Accumulators(context, selection)};
  state_ = std::make_unique<State>(State{.model = model,
                                         .classes = like.classes,
                                         .context = context,
                                         .options = options,
                                         .selection = std::move(selection),
                                         .totals = std::move(totals)});
}

MetricSums::MetricSums(const MetricSums& other)
    : state_(std::make_unique<State>(
          State{.model = other.state_->model,
                .classes = other.state_->classes,
                .context = other.state_->context,
                .options = other.state_->options,
                .selection = other.state_->selection,
                .totals = other.state_->Unpacked(PackedSums(other.state_->totals))})) {}

MetricSums& MetricSums::operator=(const MetricSums& other) { return *this = MetricSums(other); }
MetricSums::MetricSums(MetricSums&&) noexcept = default;
MetricSums& MetricSums::operator=(MetricSums&&) noexcept = default;
MetricSums::~MetricSums() = default;

void MetricSums::Add(const Dataset& cases) {
  if (cases.classes != state_->classes ||
      cases.background.value_or(-1) != state_->context.background) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: {} classes; the metrics were made for {}, and the same background",
          DatasetTitle(cases),
          cases.num_classes(),
          state_->classes.size());
  }
  const std::vector<Model> models = {state_->model};
  const ProgressScope scope(state_->options.run.progress);
  const Dataset selected = CasesToEvaluate(cases, models, state_->options);
  const EvaluatePlan plan = PlanEvaluation(selected, models, state_->options);
  const EvaluatedCases done = EvaluateCases(plan, selected, models, state_->options);
  if (done.cases.empty()) RefuseNoCases(cases.name, done.unreadable);
  state_->totals.metrics.Merge(done.pipelines.front().pooled);
  const State::Counts counts{
      .cases = std::ssize(done.cases), .voxels = done.voxels, .labelled = done.labelled};
  MergeSums(counts, &state_->totals.counts);
}

void MetricSums::Merge(const MetricSums& other) {
  if (!state_->AddsUpWith(*other.state_)) {
    Throw(ErrorCode::kInvalidArgument,
          "metrics of {} and of {}, or of other classes or options, do not add up",
          state_->model.pipeline(),
          other.state_->model.pipeline());
  }
  MergePacked(other.Pack());
}

void MetricSums::Reset() { state_->totals = {.counts = {}, .metrics = state_->NoMetrics()}; }

std::vector<MetricValue> MetricSums::Values() const { return state_->Completed().Finish(); }
std::vector<Diagram> MetricSums::Diagrams() const { return state_->Completed().Diagrams(); }
int64_t MetricSums::cases() const noexcept { return state_->totals.counts.cases; }
int64_t MetricSums::voxels() const noexcept { return state_->totals.counts.voxels; }
int64_t MetricSums::labelled() const noexcept { return state_->totals.counts.labelled; }

std::string MetricSums::Pack() const { return PackedSums(state_->totals); }

void MetricSums::MergePacked(std::string_view bytes) {
  MergeSums(state_->Unpacked(bytes), &state_->totals);
}

}  // namespace segcal
