// SPDX-License-Identifier: Apache-2.0
#include "pipeline/shared_data.h"

#include <algorithm>
#include <map>

#include "core/throw.h"
#include "pipeline/survey.h"

namespace segcal {
namespace {

// Voxels of the sample on which fits take their first steps: 10 MiB of 20 classes. At this size the
// sample's temperature is within about a per cent of the full data's.
constexpr int64_t kSampleVoxels = 1 << 17;

// Parts of a cross-validation.
constexpr int kFolds = 5;

// Which part every case is in, whole groups at a time; parts without a case are not counted.
std::vector<int64_t> AssignFolds(Dataset dataset, uint64_t seed) {
  std::vector<std::pair<std::string, double>> parts;
  for (int k = 0; k < kFolds; ++k) parts.emplace_back(fmt::format("fold {}", k), 1.0);
  AssignSplits(&dataset, parts, seed);
  std::map<std::string, int64_t> number;
  for (const Case& c : dataset.cases) number.emplace(c.split, 0);
  int64_t next = 0;
  for (auto& [name, k] : number) k = next++;
  std::vector<int64_t> fold_of;
  for (const Case& c : dataset.cases) fold_of.push_back(number.at(c.split));
  return fold_of;
}

}  // namespace

SharedData::Entry& SharedData::Find(const Pooling& pooling) {
  const std::lock_guard lock(mutex_);
  for (Entry& known : poolings_) {
    if (known.data.pooling == pooling) return known;
  }
  return poolings_.emplace_back(pooling);
}

const SharedData::OfPooling& SharedData::Of(const Pooling& pooling) {
  Entry& entry = Find(pooling);
  entry.read.Call([&] {
    entry.data.sample = SampleTiles(stream_, pooling, kSampleVoxels, seed_);
    const double beta = TemperatureOfSample(entry.data.sample, stream_.num_workers());
    entry.data.survey = SurveyData(stream_, pooling, beta);
  });
  return entry.data;
}

const std::vector<SharedData::Fold>& SharedData::Folds(const Pooling& pooling) {
  folds_made_.Call([&] { MakeFolds(); });
  Entry& entry = Find(pooling);
  entry.folds_surveyed.Call([&] {
    entry.data.of_folds =
        CountWithoutParts(stream_, pooling, fold_of_, static_cast<int64_t>(folds_.size()));
  });
  return folds_;
}

const std::vector<CaseFacts>& SharedData::FactsOf(const CaseStream& validation,
                                                  const Pooling& pooling) {
  Entry& entry = Find(pooling);
  entry.validation_hashed.Call([&] { entry.of_validation = HashCases(validation, pooling); });
  return entry.of_validation;
}

void SharedData::MakeFolds() {
  fold_of_ = AssignFolds(stream_.dataset(), seed_);
  const int64_t count = 1 + *std::max_element(fold_of_.begin(), fold_of_.end());
  if (count < 2) {
    Throw(ErrorCode::kInvalidArgument,
          "{} cases in too few groups to cross-validate: give a validation split, or no --search",
          stream_.num_cases());
  }
  for (int64_t k = 0; k < count; ++k) {
    std::vector<int64_t> inside;
    std::vector<int64_t> outside;
    for (int64_t c = 0; c < stream_.num_cases(); ++c)
      (fold_of_[static_cast<size_t>(c)] == k ? outside : inside).push_back(c);
    folds_.push_back({.training = stream_.Subset(inside), .validation = stream_.Subset(outside)});
  }
}

}  // namespace segcal
