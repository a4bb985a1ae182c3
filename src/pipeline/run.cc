// SPDX-License-Identifier: Apache-2.0
#include "pipeline/run.h"

#include "core/throw.h"

namespace segcal {
namespace {

// Blocks, tiles and accumulators of a few threads at some hundred classes.
constexpr int64_t kLeastMemory = int64_t{64} << 20;

}  // namespace

StreamOptions MakeStreamOptions(const RunOptions& run) {
  if (run.memory < kLeastMemory) {
    Throw(ErrorCode::kInvalidArgument,
          "memory of {} bytes; at least {} (64M) are required",
          run.memory,
          kLeastMemory);
  }
  if (run.threads < 0 || run.threads > 1024) {
    Throw(ErrorCode::kInvalidArgument, "{} threads; 0 (all) to 1024 are required", run.threads);
  }
  return {.threads = run.threads, .memory = run.memory, .cache_dir = run.cache_dir};
}

Dataset GoodCases(const Dataset& dataset,
                  const std::vector<Pooling>& poolings,
                  const RunOptions& run,
                  std::vector<std::string>* skipped,
                  Excused excused) {
  if (!run.skip_bad) return dataset;
  return WithoutBadCases(dataset, poolings, MakeStreamOptions(run), skipped, excused);
}

Dataset ReadableCases(const Dataset& dataset,
                      const std::vector<Pooling>& poolings,
                      const RunOptions& run,
                      std::vector<std::string>* skipped,
                      Excused excused) {
  if (dataset.cases.empty()) RefuseNoCases(dataset.name, {});
  Dataset good = GoodCases(dataset, poolings, run, skipped, excused);
  if (good.cases.empty()) RefuseNoCases(dataset.name, *skipped);
  return good;
}

void RefuseNoCases(const std::string& dataset, const std::vector<std::string>& skipped) {
  if (skipped.empty()) Throw(ErrorCode::kBadData, "the data set \"{}\" has no cases", dataset);
  Throw(ErrorCode::kBadData, "no case can be read; the first: {}", skipped.front());
}

}  // namespace segcal
