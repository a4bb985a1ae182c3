// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "core/progress.h"
#include "data/sample.h"
#include "data/stream.h"
#include "methods/shared/fit_context.h"

namespace segcal {

// What fits on the same cases share, read once per pooling however many there are: the sample of
// their first steps, the survey, and the parts of a cross-validation. Fits may go on at the same
// time: whoever needs something first makes it, and the others wait.
class SharedData {
 public:
  // All but some groups to fit on, and those to choose by.
  struct Fold {
    std::unique_ptr<CaseStream> training;
    std::unique_ptr<CaseStream> validation;
  };
  struct OfPooling {
    Pooling pooling;
    TileSample sample = {};
    Survey survey = {};
    std::vector<Survey> of_folds = {};  // of their training cases; empty until asked for
  };

  // The stream must outlive this.
  SharedData(const CaseStream& stream, uint64_t seed) : stream_(stream), seed_(seed) {}

  const CaseStream& stream() const noexcept { return stream_; }
  uint64_t seed() const noexcept { return seed_; }

  // Stays valid.
  const OfPooling& Of(const Pooling& pooling);
  // Five, or as many as there are groups; a single group is an Error. Their surveys are in
  // Of(pooling).
  const std::vector<Fold>& Folds(const Pooling& pooling);
  // Of the cases that options are chosen by, always the same ones.
  const std::vector<CaseFacts>& FactsOf(const CaseStream& validation, const Pooling& pooling);

 private:
  struct Entry {
    explicit Entry(const Pooling& pooling) : data{.pooling = pooling} {}
    OfPooling data;
    PolledOnce read = {};
    PolledOnce folds_surveyed = {};
    std::vector<CaseFacts> of_validation = {};
    PolledOnce validation_hashed = {};
  };

  Entry& Find(const Pooling& pooling);
  void MakeFolds();

  const CaseStream& stream_;
  uint64_t seed_;
  std::mutex mutex_;  // of the list, not of its entries
  std::list<Entry> poolings_;
  PolledOnce folds_made_;
  std::vector<Fold> folds_;
  std::vector<int64_t> fold_of_;  // [case]
};

}  // namespace segcal
