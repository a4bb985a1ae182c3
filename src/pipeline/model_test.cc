// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model.h"

#include <gtest/gtest.h>

namespace segcal {
namespace {

// Definition: with the pooling p, and for input that is not logits, the calibrator sees
// log-probabilities, to which nobody can add an offset.
TEST(Model, IsTranslationInvariantWhereItsCalibratorSeesLogProbabilities) {
  const auto invariant = [](const char* pipeline, InputKind input) {
    return UnfittedModel(ParsePipeline(pipeline), {"a", "b", "c"}, input).translation_invariant();
  };
  for (const char* name : {"ms", "vs", "lts_raw"}) {
    const std::string method = name;
    EXPECT_FALSE(invariant((method + "(z)").c_str(), InputKind::kLogits)) << name;
    EXPECT_FALSE(invariant((method + "(z0)").c_str(), InputKind::kLogits)) << name;
    EXPECT_TRUE(invariant((method + "(p)").c_str(), InputKind::kLogits)) << name;
    for (const InputKind input : {InputKind::kProbs, InputKind::kLogProbs}) {
      EXPECT_TRUE(invariant((method + "(z)").c_str(), input)) << name << Name(input);
      EXPECT_TRUE(invariant((method + "(p)").c_str(), input)) << name << Name(input);
    }
  }
}

// What is kept is up to the calibrator.
TEST(Model, PreservesWhatItsCalibratorDoes) {
  for (const char* pooling : {"z", "p", "z0"}) {
    const auto preserves = [&](const std::string& name) {
      const PipelineSpec spec = ParsePipeline(name + "(" + pooling + ")");
      return UnfittedModel(spec, {"a", "b"}, InputKind::kLogits).preserves();
    };
    EXPECT_EQ(preserves("ms"), Preserves::kNone) << pooling;
    EXPECT_EQ(preserves("cms_ap"), Preserves::kArgmax) << pooling;
    EXPECT_EQ(preserves("ts"), Preserves::kOrder) << pooling;
  }
}

TEST(Model, WithoutAFitReportsNoData) {
  const Model model = UnfittedModel(ParsePipeline("none(p)"), {"a"}, InputKind::kProbs);
  EXPECT_EQ(model.report().data.cases, 0);
  EXPECT_EQ(model.report().status, FitStatus::kNothingToFit);
}

}  // namespace
}  // namespace segcal
