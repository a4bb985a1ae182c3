// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "results/round_trip_for_test.h"
#include "segcal/inspect.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {

auto Fields(const CaseSummary& x) {
  const auto& [id, split, shape, dtype, labelled, accuracy, mean, deviation, by_size] = x;
  return std::tie(id, split, shape, dtype, labelled, accuracy, mean, deviation, by_size);
}
auto Fields(const FreeEnergySpread& x) {
  const auto& [members, cases, mean, quartiles] = x;
  return std::tie(members, cases, mean, quartiles[0], quartiles[1], quartiles[2]);
}
auto Fields(const MethodSummary& x) {
  const auto& [name, translation_invariant, preserves, optimised, identifiable] = x;
  return std::tie(name, translation_invariant, preserves, optimised, identifiable);
}
auto Fields(const DatasetSummary& x) {
  const auto& [name,
               classes,
               input,
               cases,
               voxels,
               labelled,
               labels,
               decisions,
               repeated,
               example,
               energy,
               methods,
               renormalised,
               skipped,
               warnings] = x;
  return std::tie(name,
                  classes,
                  input,
                  cases,
                  voxels,
                  labelled,
                  labels,
                  decisions,
                  repeated,
                  example,
                  energy,
                  methods,
                  renormalised,
                  skipped,
                  warnings);
}

namespace {

// Two members; the last case has no labels and no split.
DatasetSummary InspectScene() {
  const testing::TempFolder folder;
  Dataset dataset = testing::WriteScene(
      testing::RandomScene({.num_cases = 3, .num_members = 2, .num_classes = 3, .shape = {8, 9}}),
      folder.path());
  dataset.cases[0].split = "test";
  dataset.cases[2].labels = {};
  return Inspect(dataset);
}

TEST(InspectJson, ReadsBackARealInspection) {
  const DatasetSummary summary = InspectScene();
  EXPECT_TRUE(std::isnan(summary.cases[2].accuracy));
  EXPECT_EQ(summary.free_energy.size(), 2u);
  testing::ExpectRoundTrip(summary, DatasetSummaryFromJson);
}

TEST(InspectJson, ReadsBackWhateverAFieldHolds) {
  testing::ExpectRoundTrip(DatasetSummary{}, DatasetSummaryFromJson);
  DatasetSummary summary = InspectScene();
  summary.warnings = {"one", "two"};
  summary.repeated = 5;
  summary.repeated_example = {0.1, -HUGE_VAL, std::nan("")};
  summary.renormalised = INT64_MAX;
  summary.skipped = {"case: why"};
  testing::ExpectRoundTrip(summary, DatasetSummaryFromJson);
}

TEST(InspectJson, RefusesAnythingElse) {
  testing::ExpectStrict(InspectScene(),
                        DatasetSummaryFromJson,
                        "segcal_inspect",
                        {"/name",
                         "/classes",
                         "/input",
                         "/voxels",
                         "/label_counts",
                         "/free_energy",
                         "/free_energy/0/quartiles",
                         "/methods/0/preserves",
                         "/cases/0/shape",
                         "/cases/0/accuracy",
                         "/skipped"});
}

}  // namespace
}  // namespace segcal
