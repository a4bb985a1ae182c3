// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/fit_session.h"
#include "segcal/compare.h"
#include "segcal/error.h"
#include "study/partition.h"
#include "study/unit_progress.h"
#include "study/unit_store.h"

namespace segcal {

// Fits of pipelines on one partition, in the order of the pipelines.
struct FittedModels {
  std::vector<std::string> pipelines;        // as the study names them
  std::vector<std::optional<Model>> models;  // absent: it failed
  std::vector<std::string> keys;             // what determines each
};

// Does the units of a study, or finds them done. What fails is noted, and the rest goes on.
class UnitRunner {
 public:
  // All must outlive this.
  UnitRunner(const CompareOptions& options, const UnitStore& store, UnitProgress* progress)
      : options_(options), store_(store), progress_(progress) {}

  // `what` names the partition: "repeat 0".
  FittedModels Fit(const Partition& partition,
                   const std::vector<std::string>& pipelines,
                   int64_t repeat,
                   const std::string& what);

  // One result per model, of that model alone; absent where it failed.
  std::vector<std::optional<EvaluateResult>> Evaluate(const FittedModels& fitted,
                                                      const Dataset& cases,
                                                      const EvaluateOptions& options,
                                                      int64_t repeat,
                                                      const std::string& what);

  DatasetSummary Inspect(const Dataset& dataset);

  const std::vector<StudyFailure>& failures() const noexcept { return failures_; }

 private:
  std::string FitKey(const Partition& partition, const std::string& pipeline) const;
  std::string EvaluateKey(const std::string& fit,
                          const std::string& data,
                          const EvaluateOptions& options) const;
  std::optional<Model> FindModel(const std::string& key, const std::string& unit);
  FittedModels FindFitted(const Partition& partition,
                          const std::vector<std::string>& pipelines,
                          const std::string& what);
  std::unique_ptr<FitSession> MakeSession(const Partition& partition,
                                          const std::vector<std::string>& pipelines) const;
  int FitsAtOnce(size_t fits) const;
  void FitSideBySide(FitSession* session, FittedModels* fitted, const std::string& what);
  void FitOne(FitSession* session, FittedModels* fitted, size_t p, const std::string& what);
  void Fail(int64_t repeat,
            const std::string& pipeline,
            const std::string& stage,
            const Error& error,
            const std::string& folder);

  const CompareOptions& options_;
  const UnitStore& store_;
  UnitProgress* progress_;
  std::vector<StudyFailure> failures_;
};

// The results of single pipelines as one.
EvaluateResult JoinPipelines(const std::vector<EvaluateResult>& single);

}  // namespace segcal
