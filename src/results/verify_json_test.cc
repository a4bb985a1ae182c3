// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "results/round_trip_for_test.h"
#include "segcal/verify.h"
#include "tests/support/lying_calibrator.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {

auto Fields(const VerifiedClaim& x) {
  const auto& [what, property, found, allowed, holds] = x;
  return std::tie(what, property, found, allowed, holds);
}
auto Fields(const CounterExample& x) {
  const auto& [source, voxel, position, what, input, output] = x;
  return std::tie(source, voxel, position, what, input, output);
}
auto Fields(const VerifyCheck& x) {
  const auto& [name, input, output, declared, voxels, violations, worst, note, examples] = x;
  return std::tie(name, input, output, declared, voxels, violations, worst, note, examples);
}
auto Fields(const VerifyResult& x) {
  const auto& [pipeline, invariant, preserves, dataset, split, seed, claims, checks, skipped] = x;
  return std::tie(pipeline, invariant, preserves, dataset, split, seed, claims, checks, skipped);
}

namespace {

// With counter-examples on generated inputs and on a data set.
VerifyResult VerifyLiar(const std::string& lie) {
  const testing::TempFolder folder;
  const Dataset dataset = testing::WriteScene(
      testing::RandomScene({.num_cases = 1, .num_classes = 4, .shape = {6, 7}}), folder.path());
  VerifyOptions options;
  options.voxels = 8192;
  options.seed = UINT64_MAX;
  return Verify(testing::LyingModel(lie, dataset.classes), dataset, options);
}

TEST(VerifyJson, ReadsBackRealVerifications) {
  for (const char* lie : {"none", "decision", "order", "rows", "nan", "parameters", "honest"}) {
    SCOPED_TRACE(lie);
    testing::ExpectRoundTrip(VerifyLiar(lie), VerifyResultFromJson);
  }
}

TEST(VerifyJson, ReadsBackWhateverAFieldHolds) {
  testing::ExpectRoundTrip(VerifyResult{}, VerifyResultFromJson);
  VerifyResult result = VerifyLiar("nan");
  result.split = "test";
  result.skipped = {"case: why"};
  result.checks[0].worst = HUGE_VAL;
  result.checks[0].note = "why\nnot";
  testing::ExpectRoundTrip(result, VerifyResultFromJson);
}

TEST(VerifyJson, RefusesAnythingElse) {
  testing::ExpectStrict(VerifyLiar("decision"),
                        VerifyResultFromJson,
                        "segcal_verify",
                        {"/pipeline",
                         "/properties",
                         "/properties/preserves",
                         "/holds",
                         "/seed",
                         "/parameters/0/found",
                         "/checks",
                         "/checks/0/violations",
                         "/checks/0/examples/0/output",
                         "/skipped"});
}

TEST(VerifyJson, RefusesAVerdictThatDoesNotFollow) {
  Json json = ParseJson(ToJson(VerifyLiar("decision")), "text");
  EXPECT_EQ(json["holds"], false);
  json["holds"] = true;
  testing::ExpectError(ErrorCode::kBadData, {"text: \"holds\" is true"}, [&] {
    VerifyResultFromJson(DumpJson(json), "text");
  });
}

}  // namespace
}  // namespace segcal
