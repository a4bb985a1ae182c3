// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "data/sample.h"
#include "data/stream.h"
#include "methods/shared/fit_context.h"

namespace segcal {

// What fits on the same cases share, read once per pooling however many there are: the sample of
// their first steps, the survey, and the parts of a cross-validation.
class SharedData {
 public:
  // All but some groups to fit on, and those to choose by.
  struct Fold {
    std::unique_ptr<CaseStream> training;
    std::unique_ptr<CaseStream> validation;
  };
  struct OfPooling {
    Pooling pooling;
    TileSample sample;
    Survey survey;
    std::vector<Survey> of_folds;  // of their training cases; empty until asked for
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

 private:
  void MakeFolds();

  const CaseStream& stream_;
  uint64_t seed_;
  std::list<OfPooling> poolings_;
  std::vector<Fold> folds_;
  std::vector<int64_t> fold_of_;  // [case]
};

}  // namespace segcal
