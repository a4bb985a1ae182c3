// SPDX-License-Identifier: Apache-2.0
#include "study/recommend.h"

#include <algorithm>
#include <cmath>

#include "core/throw.h"
#include "pipeline/spec.h"
#include "study/group_scores.h"

namespace segcal {
namespace {

// Less than this share of what the best one gains over no calibration should not decide either.
// Penalties and ends of trainings are chosen by the same cases, which lends large maps a little;
// many voxels make even that certain.
constexpr double kSmallShare = 0.01;

constexpr const char* kScores[] = {"nll", "brier", "ece", "ace", "ba_ece"};

std::string WhyNot(const StudyPipeline& pipeline,
                   int64_t num_members,
                   const RecommendOptions& options) {
  if (options.translation_invariant && !pipeline.properties.translation_invariant)
    return "depends on offsets of the logits";
  if (pipeline.properties.preserves < options.preserves) {
    return options.preserves == Preserves::kOrder ? "may change the order of the classes"
                                                  : "may change the segmentation";
  }
  if (ParsePipeline(pipeline.pipeline).pooling.member < 0) return "";
  return num_members > 1 ? "uses one member of the ensemble alone"
                         : "is the mean of all members, of which there is one";
}

// The place of the best score among those that may be chosen; -1: there is none.
int64_t FindBest(const std::vector<Candidate>& candidates) {
  int64_t best = -1;
  for (size_t p = 0; p < candidates.size(); ++p) {
    if (!candidates[p].excluded.empty() || std::isnan(candidates[p].score)) continue;
    if (best < 0 || candidates[p].score < candidates[static_cast<size_t>(best)].score)
      best = static_cast<int64_t>(p);
  }
  return best;
}

// What the best one gains over the best without parameters; 0 where there is none.
double Gain(const std::vector<StudyPipeline>& pipelines, const Recommendation& recommendation) {
  double gain = std::nan("");
  for (size_t p = 0; p < pipelines.size(); ++p) {
    const Candidate& candidate = recommendation.candidates[p];
    if (candidate.excluded.empty() && pipelines[p].parameters.identifiable == 0)
      gain = std::fmin(gain, candidate.difference);
  }
  return std::isnan(gain) ? 0.0 : gain;
}

// Whether a candidate is as good as the best, as far as these cases can tell or it matters.
bool IsWithin(const Candidate& candidate, double gain) {
  return candidate.difference <= candidate.standard_error || candidate.difference <= kInvisible ||
         candidate.difference <= kSmallShare * gain;
}

// Why the simpler one is as good.
std::string WhyWithin(const Candidate& candidate, int64_t groups, double gain) {
  if (candidate.difference <= candidate.standard_error) {
    return fmt::format("less than the standard error of that difference over {} groups ({:.1e})",
                       groups,
                       candidate.standard_error);
  }
  if (candidate.difference <= kInvisible) return "too little to be seen";
  return fmt::format("less than {:.0f} % of what the best one gains over no calibration ({:.4f})",
                     100.0 * kSmallShare,
                     gain);
}

// Fewest parameters first, then the better score.
bool IsSimpler(const StudyPipeline& a, double score_a, const StudyPipeline& b, double score_b) {
  if (a.parameters.identifiable != b.parameters.identifiable)
    return a.parameters.identifiable < b.parameters.identifiable;
  return score_a < score_b;
}

size_t FindSimplest(const std::vector<StudyPipeline>& pipelines,
                    const std::vector<Candidate>& candidates,
                    size_t best) {
  size_t chosen = best;
  for (size_t p = 0; p < candidates.size(); ++p) {
    if (candidates[p].within &&
        IsSimpler(pipelines[p], candidates[p].score, pipelines[chosen], candidates[chosen].score))
      chosen = p;
  }
  return chosen;
}

std::string Keeps(const StudyPipeline& pipeline) {
  const char* kept[] = {"It may change the segmentation",
                        "It never changes the segmentation",
                        "It never changes the segmentation nor the order of the classes"};
  return fmt::format("{}{}.",
                     kept[static_cast<size_t>(pipeline.properties.preserves)],
                     pipeline.properties.translation_invariant
                         ? ", and offsets of the logits do not matter to it"
                         : "; it depends on offsets of the logits");
}

void GiveReasons(const std::vector<StudyPipeline>& pipelines,
                 size_t best,
                 size_t chosen,
                 Recommendation* recommendation) {
  const auto& candidates = recommendation->candidates;
  const auto eligible = std::count_if(
      candidates.begin(), candidates.end(), [](const Candidate& c) { return c.excluded.empty(); });
  const auto within = std::count_if(
      candidates.begin(), candidates.end(), [](const Candidate& c) { return c.within; });
  const Candidate& winner = candidates[chosen];
  std::vector<std::string>& reasons = recommendation->reasons;
  reasons.push_back(
      fmt::format("On the validation cases the best {} of {} candidates is {:.4f}, by {}.",
                  recommendation->score,
                  eligible,
                  candidates[best].score,
                  candidates[best].pipeline));
  if (chosen == best && within == 1) {
    reasons.push_back(
        fmt::format("No other candidate comes within one standard error of {}.", winner.pipeline));
  } else if (chosen == best) {
    reasons.push_back(fmt::format(
        "{} candidates are as good as these cases can tell, and {} has the fewest parameters that "
        "matter ({}).",
        within,
        winner.pipeline,
        pipelines[chosen].parameters.identifiable));
  } else {
    reasons.push_back(fmt::format(
        "{} ({:.4f}) is worse by {:.1e}, {}, and simpler: {} instead of {} parameters that "
        "matter.",
        winner.pipeline,
        winner.score,
        winner.difference,
        WhyWithin(winner, recommendation->groups, Gain(pipelines, *recommendation)),
        pipelines[chosen].parameters.identifiable,
        pipelines[best].parameters.identifiable));
  }
  reasons.push_back(Keeps(pipelines[chosen]));
}

}  // namespace

void CheckScore(const std::string& score) {
  if (std::find(std::begin(kScores), std::end(kScores), score) != std::end(kScores)) return;
  Throw(ErrorCode::kInvalidArgument,
        "score {}: one of {} is required",
        score,
        fmt::join(kScores, ", "));
}

Recommendation Recommend(const std::vector<StudyPipeline>& pipelines,
                         const std::vector<const EvaluateResult*>& chosen_by,
                         int64_t num_members,
                         const RecommendOptions& options) {
  CheckScore(options.score);
  Recommendation recommendation{.score = options.score,
                                .preserves = options.preserves,
                                .translation_invariant = options.translation_invariant};
  const GroupScores scores(chosen_by, options.score);
  recommendation.groups = scores.num_groups();
  for (size_t p = 0; p < pipelines.size(); ++p) {
    recommendation.candidates.push_back({.pipeline = pipelines[p].pipeline,
                                         .excluded = WhyNot(pipelines[p], num_members, options),
                                         .score = scores.Mean(p)});
  }
  const int64_t best = FindBest(recommendation.candidates);
  if (best < 0) {
    recommendation.reasons = {"No pipeline satisfies what is required."};
    return recommendation;
  }
  const auto b = static_cast<size_t>(best);
  for (size_t p = 0; p < pipelines.size(); ++p) {
    Candidate& candidate = recommendation.candidates[p];
    const PairedScore paired = scores.Difference(p, b);
    candidate.difference = paired.mean;
    candidate.standard_error = paired.standard_error;
  }
  const double gain = Gain(pipelines, recommendation);
  for (size_t p = 0; p < pipelines.size(); ++p) {
    Candidate& candidate = recommendation.candidates[p];
    candidate.within = candidate.excluded.empty() && (p == b || IsWithin(candidate, gain));
  }
  const size_t chosen = FindSimplest(pipelines, recommendation.candidates, b);
  recommendation.pipeline = pipelines[chosen].pipeline;
  GiveReasons(pipelines, b, chosen, &recommendation);
  return recommendation;
}

}  // namespace segcal
