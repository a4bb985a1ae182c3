// SPDX-License-Identifier: Apache-2.0
#include "results/recommendation_json.h"

#include "core/json.h"

namespace segcal {
namespace {

Json CandidateJson(const Candidate& candidate) {
  return {{"pipeline", candidate.pipeline},
          {"excluded", candidate.excluded},
          {"score", JsonNumber(candidate.score)},
          {"difference", JsonNumber(candidate.difference)},
          {"standard_error", JsonNumber(candidate.standard_error)},
          {"within", candidate.within}};
}

Candidate ReadCandidate(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  Candidate candidate;
  candidate.pipeline = object.String("pipeline");
  candidate.excluded = object.String("excluded");
  candidate.score = object.AnyNumber("score");
  candidate.difference = object.AnyNumber("difference");
  candidate.standard_error = object.AnyNumber("standard_error");
  candidate.within = object.Bool("within");
  object.Finish();
  return candidate;
}

}  // namespace

Json RecommendationToJson(const Recommendation& recommendation) {
  return {{"pipeline", recommendation.pipeline},
          {"score", recommendation.score},
          {"preserves", Name(recommendation.preserves)},
          {"translation_invariant", recommendation.translation_invariant},
          {"groups", recommendation.groups},
          {"reasons", recommendation.reasons},
          {"warnings", recommendation.warnings},
          {"commands", recommendation.commands},
          {"candidates", JsonItems(recommendation.candidates, CandidateJson)}};
}

Recommendation ReadRecommendation(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  Recommendation recommendation;
  recommendation.pipeline = object.String("pipeline");
  recommendation.score = object.String("score");
  recommendation.preserves = object.Parse("preserves", ParsePreserves);
  recommendation.translation_invariant = object.Bool("translation_invariant");
  recommendation.groups = object.Integer("groups");
  recommendation.reasons = object.Strings("reasons");
  recommendation.warnings = object.Strings("warnings");
  recommendation.commands = object.Strings("commands");
  recommendation.candidates = object.Items("candidates", ReadCandidate);
  object.Finish();
  return recommendation;
}

}  // namespace segcal
