// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "segcal/apply.h"
#include "segcal/simulate.h"

namespace segcal {
namespace {

TEST(ApplyResult, IsWrittenAsJson) {
  const ApplyResult result{.pipeline = "ts(z)",
                           .files = {"out/a.npy"},
                           .voxels = 12,
                           .renormalised = 3,
                           .skipped = {"b: why"},
                           .warnings = {"so"}};
  EXPECT_EQ(
      ToJson(result),
      "{\n  \"pipeline\": \"ts(z)\",\n  \"voxels\": 12,\n  \"renormalised\": 3,\n"
      "  \"files\": [\"out/a.npy\"],\n  \"skipped\": [\"b: why\"],\n  \"warnings\": [\"so\"]\n}\n");
}

TEST(SimulateSummary, IsWrittenAsJsonWithNullForWhatIsNotDefined) {
  SimulateSummary summary;
  summary.num_voxels = 8;
  summary.num_labelled = 0;
  summary.true_nll = std::nan("");
  summary.stored_nll = 0.5;
  EXPECT_EQ(ToJson(summary),
            "{\n  \"voxels\": 8,\n  \"labelled\": 0,\n  \"true_nll\": null,\n"
            "  \"true_entropy\": 0,\n  \"stored_nll\": 0.5,\n  \"stored_confidence\": 0,\n"
            "  \"stored_accuracy\": 0\n}\n");
}

}  // namespace
}  // namespace segcal
