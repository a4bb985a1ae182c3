// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "pipeline/spec.h"
#include "study/group_scores.h"
#include "study/recommend.h"

namespace segcal {
namespace {

// Below these, standard errors and intervals are themselves guesses.
constexpr int64_t kFewGroups = 10;
// Standard errors that a difference on the test cases must have to be called clear.
constexpr double kClear = 2.0;
// Above this share of repeated predictions a fill is likely enough to warn about.
constexpr double kFillShare = 0.01;

std::optional<size_t> PlaceOf(const Study& study, const std::string& pipeline) {
  for (size_t p = 0; p < study.pipelines.size(); ++p) {
    if (study.pipelines[p].pipeline == pipeline) return p;
  }
  return std::nullopt;
}

// The uncalibrated prediction that a pipeline starts from.
std::optional<size_t> BaselineOf(const Study& study, const std::string& pipeline) {
  PipelineSpec spec{.stages = {"none"}, .pooling = ParsePipeline(pipeline).pooling, .options = {}};
  return PlaceOf(study, FormatPipeline(spec));
}

const MetricInterval* IntervalOf(const Statistics& statistics,
                                 size_t pipeline,
                                 const std::string& metric) {
  for (const MetricInterval& interval : statistics.pipelines[pipeline].intervals) {
    if (interval.metric == metric) return &interval;
  }
  return nullptr;
}

double TestValue(const Study& study, size_t pipeline, const std::string& metric) {
  const MetricInterval* interval = IntervalOf(study.statistics, pipeline, metric);
  return interval == nullptr ? std::nan("") : interval->estimate;
}

std::vector<const EvaluateResult*> TestResults(const Study& study) {
  std::vector<const EvaluateResult*> results;
  for (const StudyRepeat& repeat : study.repeats) results.push_back(&repeat.result);
  return results;
}

// What the test cases, which the choice did not see, say of it.
void ConfirmOnTest(Study* study, size_t chosen, size_t baseline) {
  Recommendation& found = study->recommendation;
  const GroupScores scores(TestResults(*study), found.score);
  const PairedScore gain = scores.Difference(chosen, baseline);
  if (chosen == baseline || std::isnan(gain.mean)) return;
  const std::string numbers = fmt::format(
      "{} {:.4f} instead of {:.4f} without calibration "
      "(difference {:+.4f}, standard error {:.4f})",
      found.score,
      scores.Mean(chosen),
      scores.Mean(baseline),
      gain.mean,
      gain.standard_error);
  if (gain.mean < 0.0) {
    found.reasons.push_back(fmt::format("On the test cases: {}.", numbers));
  } else {
    found.warnings.push_back(fmt::format(
        "On the test cases {} is no better than no calibration: {}.", found.pipeline, numbers));
  }
}

// The best candidate on the validation cases, where a simpler one was chosen within the error.
std::optional<size_t> PassedOver(const Recommendation& found, size_t chosen) {
  std::optional<size_t> best;
  for (size_t p = 0; p < found.candidates.size(); ++p) {
    const Candidate& candidate = found.candidates[p];
    if (!candidate.excluded.empty() || std::isnan(candidate.score)) continue;
    if (!best || candidate.score < found.candidates[*best].score) best = p;
  }
  return best == chosen ? std::nullopt : best;
}

void WarnWhereThePassedOverIsBetter(Study* study, size_t chosen) {
  Recommendation& found = study->recommendation;
  const std::optional<size_t> best = PassedOver(found, chosen);
  if (!best) return;
  const GroupScores scores(TestResults(*study), found.score);
  const PairedScore gain = scores.Difference(*best, chosen);
  if (!(-gain.mean > std::max(kInvisible, kClear * gain.standard_error))) return;
  found.warnings.push_back(fmt::format(
      "The validation cases could not tell {} from the simpler {}, but on the test cases it is "
      "clearly better: {} {:.4f} instead of {:.4f} (difference {:+.4f}, standard error {:.4f}).",
      study->pipelines[*best].pipeline,
      found.pipeline,
      found.score,
      scores.Mean(*best),
      scores.Mean(chosen),
      gain.mean,
      gain.standard_error));
}

void WarnWhereMetricsDisagree(Study* study, size_t chosen, size_t baseline) {
  Recommendation& found = study->recommendation;
  if (chosen == baseline) return;
  for (const char* metric : {"nll", "brier", "ece", "ace", "ba_ece"}) {
    const double before = TestValue(*study, baseline, metric);
    const double after = TestValue(*study, chosen, metric);
    if (metric == found.score || !(after > before)) continue;
    found.warnings.push_back(
        fmt::format("Calibration metrics disagree: {} was chosen by {}, but its {} on the test "
                    "cases is {:.4f}, "
                    "{:.4f} without calibration.",
                    found.pipeline,
                    found.score,
                    metric,
                    after,
                    before));
  }
}

// Where the recommended pipeline may change decisions, whether it does so for the worse.
void WarnOfSegmentation(const std::vector<const EvaluateResult*>& results,
                        const std::string& where,
                        size_t chosen,
                        size_t baseline,
                        Study* study) {
  Recommendation& found = study->recommendation;
  if (study->pipelines[chosen].properties.preserves != Preserves::kNone) return;
  const PairedScore change = GroupScores(results, "dsc").Difference(chosen, baseline);
  if (!(change.mean < 0.0 && -change.mean > change.standard_error)) return;
  found.warnings.push_back(
      fmt::format("{} {} loses {:.2f} points of Dice against no calibration (standard error "
                  "{:.2f}): it changes the segmentation.",
                  where,
                  found.pipeline,
                  -100.0 * change.mean,
                  100.0 * change.standard_error));
}

std::vector<const EvaluateResult*> ShiftedResults(const StudyShift& shift) {
  std::vector<const EvaluateResult*> results;
  for (const EvaluateResult& result : shift.repeats) results.push_back(&result);
  return results;
}

// Candidates that lose at home and win elsewhere.
void WarnWhereShiftTurnsTheOrder(const StudyShift& shift, Study* study, size_t chosen) {
  Recommendation& found = study->recommendation;
  const GroupScores home(TestResults(*study), found.score);
  const GroupScores away(ShiftedResults(shift), found.score);
  for (size_t p = 0; p < study->pipelines.size(); ++p) {
    if (p == chosen || !found.candidates[p].excluded.empty()) continue;
    const PairedScore here = home.Difference(p, chosen);
    const PairedScore there = away.Difference(p, chosen);
    if (!(here.mean > 0.0 && there.mean < 0.0 && -there.mean > there.standard_error)) continue;
    found.warnings.push_back(fmt::format(
        "The order turns under the shift \"{}\": {} has a worse {} than {} on the test cases "
        "({:+.4f}) and a better one there ({:+.4f}).",
        shift.name,
        study->pipelines[p].pipeline,
        found.score,
        found.pipeline,
        here.mean,
        there.mean));
  }
}

const MetricComparison* ComparisonOf(const PairStatistics& pair, const std::string& metric) {
  for (const MetricComparison& comparison : pair.comparisons) {
    if (comparison.difference.metric == metric) return &comparison;
  }
  return nullptr;
}

// Matched pairs whose difference is clear in both and has the other sign.
void WarnWherePairsTurn(const StudyShift& shift, Study* study) {
  Recommendation& found = study->recommendation;
  const std::vector<PairStatistics>& pairs = study->statistics.pairs;
  for (size_t i = 0; i < pairs.size() && i < shift.statistics.pairs.size(); ++i) {
    const MetricComparison* here = ComparisonOf(pairs[i], found.score);
    const MetricComparison* there = ComparisonOf(shift.statistics.pairs[i], found.score);
    if (here == nullptr || there == nullptr || !ExcludesZero(here->difference) ||
        !ExcludesZero(there->difference))
      continue;
    if ((here->difference.estimate < 0.0) == (there->difference.estimate < 0.0)) continue;
    found.warnings.push_back(fmt::format(
        "The order turns under the shift \"{}\": {} less {} in {} is {:+.4f} on the test cases and "
        "{:+.4f} there.",
        shift.name,
        pairs[i].pair.second,
        pairs[i].pair.first,
        found.score,
        here->difference.estimate,
        there->difference.estimate));
  }
}

void WarnOfData(Study* study) {
  Recommendation& found = study->recommendation;
  if (found.groups < kFewGroups) {
    found.warnings.push_back(
        fmt::format("The choice rests on {} groups of validation cases; fewer than {} say little.",
                    found.groups,
                    kFewGroups));
  }
  const double share = static_cast<double>(study->data.repeated) /
                       static_cast<double>(std::max<int64_t>(1, study->data.voxels));
  if (share > kFillShare) {
    found.warnings.push_back(
        fmt::format("{:.1f} % of the voxels repeat their neighbour's prediction exactly, as fills "
                    "outside a crop "
                    "do: every mean is mostly about them. Give a mask that leaves them out.",
                    100.0 * share));
  }
  if (study->protocol.select == Selection::kFolds) {
    found.warnings.push_back(
        "Penalties were chosen and fitted on the validation cases too (--select folds), which "
        "favours methods with many parameters in this choice.");
  }
}

}  // namespace

void JudgeRecommendation(Study* study) {
  const Recommendation& found = study->recommendation;
  const std::optional<size_t> chosen = PlaceOf(*study, found.pipeline);
  if (!chosen) return;
  if (const std::optional<size_t> baseline = BaselineOf(*study, found.pipeline)) {
    ConfirmOnTest(study, *chosen, *baseline);
    WarnWhereMetricsDisagree(study, *chosen, *baseline);
    WarnOfSegmentation(TestResults(*study), "On the test cases", *chosen, *baseline, study);
    for (const StudyShift& shift : study->shifts) {
      const std::string where = fmt::format("Under the shift \"{}\"", shift.name);
      WarnOfSegmentation(ShiftedResults(shift), where, *chosen, *baseline, study);
    }
  }
  WarnWhereThePassedOverIsBetter(study, *chosen);
  for (const StudyShift& shift : study->shifts) {
    WarnWhereShiftTurnsTheOrder(shift, study, *chosen);
    WarnWherePairsTurn(shift, study);
  }
  WarnOfData(study);
}

}  // namespace segcal
