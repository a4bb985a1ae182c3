// SPDX-License-Identifier: Apache-2.0
#include "pipeline/run.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;

TEST(RunOptions, RefuseTooLittleMemoryAndImpossibleThreads) {
  RunOptions run;
  EXPECT_NO_THROW(MakeStreamOptions(run));
  run.memory = (int64_t{64} << 20) - 1;
  ExpectError(
      ErrorCode::kInvalidArgument, {"67108863", "67108864"}, [&] { MakeStreamOptions(run); });
  run = {};
  run.threads = -1;
  ExpectError(ErrorCode::kInvalidArgument, {"-1 threads"}, [&] { MakeStreamOptions(run); });
  run.threads = 1025;
  ExpectError(ErrorCode::kInvalidArgument, {"1025 threads"}, [&] { MakeStreamOptions(run); });
}

TEST(ReadableCases, RefusesADataSetWithoutCases) {
  Dataset dataset;
  dataset.name = "empty";
  std::vector<std::string> skipped;
  ExpectError(ErrorCode::kBadData, {"\"empty\" has no cases"}, [&] {
    ReadableCases(dataset, {Pooling{}}, {}, &skipped);
  });
}

TEST(ReadableCases, RefusesADataSetOfWhichNothingCanBeRead) {
  const testing::TempFolder folder;
  Dataset dataset = testing::WriteScene(testing::RandomScene({.shape = {5, 5}}), folder.path());
  for (Case& c : dataset.cases) c.members = {"absent.npy"};
  RunOptions run;
  run.skip_bad = true;
  std::vector<std::string> skipped;
  ExpectError(ErrorCode::kBadData, {"no case can be read", "case0", "absent.npy"}, [&] {
    ReadableCases(dataset, {Pooling{}}, run, &skipped);
  });
}

}  // namespace
}  // namespace segcal
