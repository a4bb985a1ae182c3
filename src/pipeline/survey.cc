// SPDX-License-Identifier: Apache-2.0
#include "pipeline/survey.h"

#include <algorithm>
#include <numeric>

#include "core/exact_sum.h"
#include "data/reduce.h"
#include "data/repeats.h"
#include "kernels/emit.h"
#include "methods/shared/temperature_pass.h"
#include "optim/newton1d.h"
#include "pipeline/case_facts.h"

namespace segcal {
namespace {

constexpr double kMaxBeta = 1e6;

// Order-free sums of a survey.
struct SurveySums {
  explicit SurveySums(int64_t num_classes)
      : confusion(static_cast<size_t>(num_classes * num_classes), 0) {}

  void Flush() noexcept {
    at_one.Flush();
    at_beta.Flush();
    slope_at_zero.Add(pending.slope_at_zero);
    margins_count += pending.count;
    below_max += pending.below_max;
    pending = {};
  }
  static constexpr auto SumFields() {
    using S = SurveySums;
    return std::tuple(&S::at_one,
                      &S::at_beta,
                      &S::slope_at_zero,
                      &S::margins_count,
                      &S::below_max,
                      &S::voxels,
                      &S::repeated,
                      &S::flat,
                      &S::renormalised,
                      &S::confusion,
                      &S::cases);
  }

  TemperatureTotals at_one;
  TemperatureTotals at_beta;
  LabelMargins pending;
  ExactSum slope_at_zero;
  int64_t margins_count = 0;
  int64_t below_max = 0;
  int64_t voxels = 0;
  int64_t repeated = 0;
  int64_t flat = 0;
  int64_t renormalised = 0;
  std::vector<int64_t> confusion;      // [decision][label], of the labelled voxels
  std::map<int64_t, CaseFacts> cases;  // by index, those that this one has seen
};

void CountClasses(const Tile& tile, int64_t* confusion) {
  for (int64_t v = 0; v < tile.count; ++v) {
    if (tile.labels[v] == kNoLabel) continue;
    ++confusion[tile.decision[v] * tile.num_classes + tile.labels[v]];
  }
}

std::vector<int64_t> LabelCounts(const std::vector<int64_t>& confusion, int64_t num_classes) {
  std::vector<int64_t> counts(static_cast<size_t>(num_classes), 0);
  for (size_t i = 0; i < confusion.size(); ++i) counts[i % counts.size()] += confusion[i];
  return counts;
}

// Labelled voxels whose logits are all equal; most are decided by their first class.
int64_t CountFlat(const Tile& tile) {
  int64_t flat = 0;
  for (int64_t v = 0; v < tile.count; ++v) {
    if (tile.labels[v] == kNoLabel) continue;
    int64_t c = 0;
    while (c < tile.num_classes && tile.logits[c * kTileVoxels + v] == 0.0f) ++c;
    flat += c == tile.num_classes ? 1 : 0;
  }
  return flat;
}

int64_t CountLabelled(const Tile& tile) {
  return tile.count - std::count(tile.labels, tile.labels + tile.count, kNoLabel);
}

void AddTile(const Tile& tile, int64_t case_index, double sample_beta, SurveySums* sums) {
  AddTemperatureSums(tile, 1.0, sums->at_one.pending());
  if (sample_beta != 1.0) AddTemperatureSums(tile, sample_beta, sums->at_beta.pending());
  AddLabelMargins(tile, &sums->pending);
  CountClasses(tile, sums->confusion.data());
  CaseFacts& facts = sums->cases[case_index];
  facts.hash += HashOfCase(tile);
  facts.labelled += CountLabelled(tile);
  sums->repeated += FindRepeats(tile).voxels;
  sums->voxels += tile.count;
  sums->flat += CountFlat(tile);
}

// Counts of every part of the cases.
struct PartCounts {
  PartCounts(int64_t num_parts, int64_t num_classes)
      : confusion(static_cast<size_t>(num_parts * num_classes * num_classes), 0),
        voxels(static_cast<size_t>(num_parts), 0) {}
  static constexpr auto SumFields() {
    return std::tuple(&PartCounts::confusion, &PartCounts::voxels);
  }

  std::vector<int64_t> confusion;  // [part][decision][label], of the labelled voxels
  std::vector<int64_t> voxels;     // [part]
};

Survey MakeSurvey(const SurveySums& total, int64_t num_classes, double sample_beta) {
  Survey survey;
  survey.voxels = total.voxels;
  survey.repeated = total.repeated;
  survey.flat = total.flat;
  survey.label_counts = LabelCounts(total.confusion, num_classes);
  survey.confusion = total.confusion;
  survey.margins = {.count = total.margins_count,
                    .below_max = total.below_max,
                    .slope_at_zero = total.slope_at_zero.value()};
  survey.labelled = total.margins_count;
  survey.at_one = total.at_one.Sums();
  survey.sample_beta = sample_beta;
  survey.at_sample_beta = sample_beta != 1.0 ? total.at_beta.Sums() : survey.at_one;
  for (const auto& [index, facts] : total.cases) survey.cases.push_back(facts);
  survey.hash = HashOfCases(survey.cases);
  survey.renormalised = total.renormalised;
  return survey;
}

}  // namespace

double TemperatureOfSample(const TileSample& sample, int num_threads) {
  const auto evaluate = [&](double beta) {
    return MeanPoint(beta, TemperaturePass(sample, num_threads, beta));
  };
  const TemperatureSums at_one = TemperaturePass(sample, num_threads, 1.0);
  if (at_one.count == 0) return 1.0;
  const Newton1DResult result = MinimizeConvex1D(evaluate,
                                                 MeanPoint(1.0, at_one),
                                                 {.lower = 0.0,
                                                  .upper = kMaxBeta,
                                                  .slope_tolerance = 1e-4,
                                                  .step_tolerance = 1e-4,
                                                  .max_evaluations = 50});
  return result.status == Newton1DStatus::kConverged ? result.point.x : 1.0;
}

Survey SurveyData(const CaseStream& stream, const Pooling& pooling, double sample_beta) {
  const int64_t num_classes = stream.dataset().num_classes();
  const auto add = [&](VoxelBlock& block, int64_t c, TileBuffer* buffer, SurveySums* sums) {
    for (int64_t t = 0; t < block.num_tiles(); ++t)
      AddTile(block.PoolTileInto(t, pooling, buffer), c, sample_beta, sums);
    sums->renormalised += block.TakeRenormalised();
    AddCaseFacts(block, &sums->cases[c]);
  };
  return MakeSurvey(ReduceBlocks(
                        stream, "survey", [&] { return SurveySums(num_classes); }, add),
                    num_classes,
                    sample_beta);
}

std::vector<Survey> CountWithoutParts(const CaseStream& stream,
                                      const Pooling& pooling,
                                      const std::vector<int64_t>& part_of,
                                      int64_t num_parts) {
  const int64_t num_classes = stream.dataset().num_classes();
  const int64_t entries = num_classes * num_classes;
  const auto add = [&](VoxelBlock& block, int64_t c, TileBuffer* buffer, PartCounts* counts) {
    const int64_t part = part_of[static_cast<size_t>(c)];
    for (int64_t t = 0; t < block.num_tiles(); ++t)
      CountClasses(block.PoolTileInto(t, pooling, buffer),
                   counts->confusion.data() + part * entries);
    counts->voxels[static_cast<size_t>(part)] += block.count();
  };
  const PartCounts total = ReduceBlocks(
      stream, "count folds", [&] { return PartCounts(num_parts, num_classes); }, add);
  std::vector<Survey> surveys(static_cast<size_t>(num_parts));
  for (int64_t k = 0; k < num_parts; ++k) {
    Survey& survey = surveys[static_cast<size_t>(k)];
    survey.confusion.assign(static_cast<size_t>(entries), 0);
    for (int64_t j = 0; j < num_parts; ++j) {
      if (j == k) continue;
      for (int64_t i = 0; i < entries; ++i)
        survey.confusion[static_cast<size_t>(i)] +=
            total.confusion[static_cast<size_t>(j * entries + i)];
      survey.voxels += total.voxels[static_cast<size_t>(j)];
    }
    survey.label_counts = LabelCounts(survey.confusion, num_classes);
    survey.labelled =
        std::accumulate(survey.label_counts.begin(), survey.label_counts.end(), int64_t{0});
  }
  return surveys;
}

std::vector<CaseFacts> HashCases(const CaseStream& stream, const Pooling& pooling) {
  struct Sums {
    static constexpr auto SumFields() { return std::tuple(&Sums::cases); }
    std::map<int64_t, CaseFacts> cases;
  };
  const auto add = [&](VoxelBlock& block, int64_t c, TileBuffer* buffer, Sums* sums) {
    CaseFacts& facts = sums->cases[c];
    for (int64_t t = 0; t < block.num_tiles(); ++t)
      facts.hash += HashOfCase(block.PoolTileInto(t, pooling, buffer));
  };
  const Sums total = ReduceBlocks(
      stream, "look at validation cases", [] { return Sums(); }, add);
  std::vector<CaseFacts> cases;
  for (const auto& [index, facts] : total.cases) cases.push_back(facts);
  return cases;
}

}  // namespace segcal
