// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/file.h"
#include "core/json.h"
#include "core/new_folder.h"
#include "core/parallel.h"
#include "core/progress.h"
#include "core/throw.h"
#include "formats/array.h"
#include "segcal/dataset.h"
#include "segcal/simulate.h"
#include "simulate/fields.h"
#include "simulate/labels.h"
#include "simulate/scenes.h"
#include "spatial/boundary.h"

namespace segcal {
namespace {

// Reliabilities stay away from certainty, so that their logarithms stay small.
constexpr double kLeastReliability = 0.02;

void CheckCandidateOptions(const SimulateCandidatesOptions& options) {
  const auto refuse = [](const char* what, double value, const char* required) {
    Throw(ErrorCode::kInvalidArgument, "{} {}: {} is required", what, value, required);
  };
  if (options.num_cases < 1 || options.num_cases > 1'000'000)
    refuse("cases", static_cast<double>(options.num_cases), "1 to 1000000");
  if (options.num_candidates < 2 || options.num_candidates > 1000)
    refuse("candidates", static_cast<double>(options.num_candidates), "2 to 1000");
  if (options.num_classes < 2 || options.num_classes > 255)
    refuse("classes", static_cast<double>(options.num_classes), "2 to 255");
  if (!(options.temperature >= 0.01 && options.temperature <= 100.0))
    refuse("temperature", options.temperature, "0.01 to 100");
  if (!(options.correlation >= 0.0 && options.correlation <= 64.0))
    refuse("correlation", options.correlation, "0 to 64");
  if (options.size.size() != 3)
    refuse("axes of the size", static_cast<double>(options.size.size()), "3");
  for (const int64_t n : options.size) {
    if (n < 1 || n > 2048) refuse("an axis of", static_cast<double>(n), "1 to 2048");
  }
}

double Sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// What the candidates of one case share.
struct SharedScene {
  std::vector<uint8_t> truth;
  std::vector<double> ease;      // how likely a candidate is right here, as a log odds
  std::vector<uint8_t> mistake;  // what a candidate says where it is wrong
};

SharedScene MakeSharedScene(const SimulateCandidatesOptions& options, const CaseStreams& streams) {
  const ScenePreset& preset = BrainPreset();
  SharedScene shared;
  shared.truth = MakeScene(preset, options.size, options.num_classes, streams).regions;
  const std::vector<int32_t> labels(shared.truth.begin(), shared.truth.end());
  const std::vector<int32_t> distance =
      SquaredBoundaryDistances(MakeGrid(options.size), labels, options.threads);
  const std::vector<float> common =
      GaussianField(options.size, 6.0, streams.Of(StreamUse::kReliability));
  const std::vector<float> choice =
      GaussianField(options.size, 4.0, streams.Of(StreamUse::kMistake));
  shared.ease.resize(shared.truth.size());
  shared.mistake.resize(shared.truth.size());
  const auto others = static_cast<double>(options.num_classes - 1);
  for (size_t v = 0; v < shared.truth.size(); ++v) {
    const double near = std::exp(-static_cast<double>(distance[v]) / (2.0 * 3.0 * 3.0));
    shared.ease[v] = 0.8 * static_cast<double>(common[v]) - 2.0 * near;
    const double u = 1.0 - NormalUpperTail(static_cast<double>(choice[v]));
    const auto step = 1 + std::min(static_cast<int64_t>(u * others), options.num_classes - 2);
    shared.mistake[v] = static_cast<uint8_t>((shared.truth[v] + step) % options.num_classes);
  }
  return shared;
}

// One locally wrong copy of the truth.
struct Candidate {
  std::vector<uint8_t> labels;
  std::vector<float> reliability;  // the true probability that it is right
  std::vector<float> scores;       // the stored logits of "wrong" and "right", [2][voxel]
};

Candidate MakeCandidate(const SimulateCandidatesOptions& options,
                        const SharedScene& shared,
                        int64_t index,
                        const CaseStreams& streams) {
  const std::vector<float> quality =
      GaussianField(options.size, 5.0, streams.Of(StreamUse::kReliability, index + 1));
  const std::vector<float> luck =
      GaussianField(options.size, options.correlation, streams.Of(StreamUse::kLuck, index));
  const double skill = 2.5 + 0.8 * streams.Of(StreamUse::kSkill, index).Normal();
  const size_t voxels = shared.truth.size();
  Candidate candidate{.labels = std::vector<uint8_t>(voxels),
                      .reliability = std::vector<float>(voxels),
                      .scores = std::vector<float>(2 * voxels)};
  for (size_t v = 0; v < voxels; ++v) {
    const double odds = skill + shared.ease[v] + 1.5 * static_cast<double>(quality[v]);
    const double p = std::clamp(Sigmoid(odds), kLeastReliability, 1.0 - kLeastReliability);
    const double half = 0.5 * options.temperature * std::log(p / (1.0 - p));
    candidate.reliability[v] = static_cast<float>(p);
    candidate.scores[v] = static_cast<float>(-half);
    candidate.scores[voxels + v] = static_cast<float>(half);
    const bool right = 1.0 - NormalUpperTail(static_cast<double>(luck[v])) < p;
    candidate.labels[v] = right ? shared.truth[v] : shared.mistake[v];
  }
  return candidate;
}

// Sums over the votes of a candidate, as in TruthSums but of "wrong" and "right".
void AddVotes(const SharedScene& shared, const Candidate& candidate, SimulateSummary* sums) {
  const size_t voxels = shared.truth.size();
  for (size_t v = 0; v < voxels; ++v) {
    const bool right = candidate.labels[v] == shared.truth[v];
    const auto p = static_cast<double>(candidate.reliability[v]);
    const double stored = Sigmoid(2.0 * static_cast<double>(candidate.scores[voxels + v]));
    sums->true_nll -= std::log(right ? p : 1.0 - p);
    sums->true_entropy -= p * std::log(p) + (1.0 - p) * std::log(1.0 - p);
    sums->stored_nll -= std::log(right ? stored : 1.0 - stored);
    sums->stored_confidence += std::max(stored, 1.0 - stored);
    sums->stored_accuracy += (stored >= 0.5) == right ? 1.0 : 0.0;
  }
  sums->num_voxels += static_cast<int64_t>(voxels);
  sums->num_labelled += static_cast<int64_t>(voxels);
}

void SaveCandidate(const std::string& folder,
                   const std::string& name,
                   const SimulateCandidatesOptions& options,
                   const Candidate& candidate) {
  ArrayInfo info{.dtype = DType::kU8, .shape = options.size, .spacing = BrainPreset().spacing};
  SaveArray(folder + "/candidates/" + name + ".nii.gz", info, candidate.labels.data());
  info = {.dtype = DType::kF32, .shape = options.size, .spacing = {}};
  SaveArray(folder + "/truth/" + name + ".npy", info, candidate.reliability.data());
  info.shape.insert(info.shape.begin(), 2);
  SaveArray(folder + "/logits/" + name + ".npy", info, candidate.scores.data());
}

void MakeCandidateCase(const std::string& folder,
                       const SimulateCandidatesOptions& options,
                       const Case& entry,
                       const CaseStreams& streams,
                       SimulateSummary* sums) {
  const SharedScene shared = MakeSharedScene(options, streams);
  SaveArray(folder + "/" + entry.labels.path(),
            {.dtype = DType::kU8, .shape = options.size, .spacing = BrainPreset().spacing},
            shared.truth.data());
  std::vector<SimulateSummary> parts(static_cast<size_t>(options.num_candidates));
  ParallelFor(options.num_candidates, options.threads, [&](int64_t i, int) {
    const Candidate candidate = MakeCandidate(options, shared, i, streams);
    SaveCandidate(folder, fmt::format("{}_{}", entry.id, i), options, candidate);
    AddVotes(shared, candidate, &parts[static_cast<size_t>(i)]);
  });
  for (const SimulateSummary& part : parts) {  // in their order: the same bits for any threads
    sums->num_voxels += part.num_voxels;
    sums->num_labelled += part.num_labelled;
    sums->true_nll += part.true_nll;
    sums->true_entropy += part.true_entropy;
    sums->stored_nll += part.stored_nll;
    sums->stored_confidence += part.stored_confidence;
    sums->stored_accuracy += part.stored_accuracy;
  }
}

Dataset DescribeCandidates(const SimulateCandidatesOptions& options) {
  Dataset dataset;
  dataset.name = "candidates";
  dataset.classes = ClassNames(BrainPreset(), options.num_classes);
  dataset.input = InputKind::kLogits;
  dataset.background = 0;
  for (int64_t i = 0; i < options.num_cases; ++i) {
    Case entry;
    entry.id = fmt::format("{:04}", i);
    entry.labels = fmt::format("labels/{}.nii.gz", entry.id);
    entry.spacing = BrainPreset().spacing;
    for (int64_t c = 0; c < options.num_candidates; ++c) {
      entry.members.emplace_back(fmt::format("logits/{}_{}.npy", entry.id, c));
      entry.candidates.emplace_back(fmt::format("candidates/{}_{}.nii.gz", entry.id, c));
    }
    dataset.cases.push_back(std::move(entry));
  }
  if (!options.splits.empty()) AssignSplits(&dataset, options.splits, options.seed);
  return dataset;
}

SimulateSummary MeanOverVotes(SimulateSummary sums) {
  const auto n = static_cast<double>(sums.num_labelled);
  for (double* sum : {&sums.true_nll,
                      &sums.true_entropy,
                      &sums.stored_nll,
                      &sums.stored_confidence,
                      &sums.stored_accuracy})
    *sum /= n;
  return sums;
}

}  // namespace

SimulateSummary SimulateCandidates(const std::string& folder,
                                   const SimulateCandidatesOptions& options,
                                   const ProgressCallback& progress) {
  const ProgressScope scope(progress);
  CheckCandidateOptions(options);
  const Dataset dataset = DescribeCandidates(options);
  NewFolder output(folder);
  for (const char* name : {"labels", "candidates", "logits", "truth"})
    CreateFolder(folder + "/" + name);
  SimulateSummary sums;
  const int64_t votes_per_case = NumVoxels(options.size) * options.num_candidates;
  for (int64_t i = 0; i < options.num_cases; ++i) {
    ReportProgress({.stage = "simulate candidates",
                    .done = i * votes_per_case,
                    .total = options.num_cases * votes_per_case});
    MakeCandidateCase(
        folder, options, dataset.cases[static_cast<size_t>(i)], {options.seed, i}, &sums);
  }
  const SimulateSummary summary = MeanOverVotes(sums);
  Json json = ParseJson(ToJson(summary), "summary");
  json["segcal_truth"] = 1;
  json["preset"] = "candidates";
  json["seed"] = options.seed;
  json["map"] = {{"kind", "temperature"}, {"parameters", {{"temperature", options.temperature}}}};
  WriteText(folder + "/truth.json", DumpJson(json));
  SaveDataset(folder + "/dataset.json", dataset);
  output.Keep();
  return summary;
}

}  // namespace segcal
