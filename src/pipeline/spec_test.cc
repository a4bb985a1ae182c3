// SPDX-License-Identifier: Apache-2.0
#include "pipeline/spec.h"

#include <gtest/gtest.h>

#include "calibrators/list.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

using testing::ExpectError;

TEST(Pipeline, HasOneCanonicalText) {
  const std::pair<const char*, const char*> texts[] = {
      {"ts", "ts(z)"},
      {"ts()", "ts(z)"},
      {"none(z0)", "none(z0)"},
      {"  ts ( p )\n", "ts(p)"},
      {"ts(max_iterations=5,p)", "ts(p, max_iterations=5)"},
      {"ts(z, max_iterations = 5, gradient_tolerance= 1e-4)",
       "ts(z, gradient_tolerance=1e-4, max_iterations=5)"},
      {"ts(z007)", "ts(z7)"},
      {"none + ts (p)", "none+ts(p)"},
  };
  for (const auto& [text, canonical] : texts) {
    EXPECT_EQ(FormatPipeline(ParsePipeline(text)), canonical);
    EXPECT_EQ(FormatPipeline(ParsePipeline(canonical)), canonical);
  }
}

TEST(Pipeline, HoldsStagesPoolingAndOptions) {
  const PipelineSpec spec = ParsePipeline("none+ts(z3, a=b=c)");
  EXPECT_EQ(spec.stages, (std::vector<std::string>{"none", "ts"}));
  EXPECT_EQ(spec.pooling.member, 3);
  EXPECT_EQ(spec.options, (OptionMap{{"a", "b=c"}}));
}

TEST(Pipeline, RefusesOtherFormsAndShowsThem) {
  for (const char* text : {"",
                           " ",
                           "(z)",
                           "ts(",
                           "ts(z",
                           "ts(z))",
                           "ts((z))",
                           "ts(z)x",
                           "ts(z)(p)",
                           "ts(q)",
                           "ts(z, p)",
                           "ts(z,)",
                           "ts(,z)",
                           "ts(a=)",
                           "ts(=1)",
                           "ts(a=1, a=2)",
                           "ts+",
                           "+ts",
                           "ts++ts"}) {
    ExpectError(ErrorCode::kInvalidArgument,
                {std::string("\"") + text + "\"", "name(pooling, key=value)"},
                [&] { ParsePipeline(text); });
  }
}

TEST(Pipeline, ListsTheCalibratorsWhenOneIsUnknown) {
  for (const char* text : {"temperature(z)", "ts)", "TS", "ts+unknown(z)"}) {
    ExpectError(ErrorCode::kInvalidArgument, {"unknown calibrator", "none, ts"}, [&] {
      ParsePipeline(text);
    });
  }
}

TEST(Pipeline, StagesCheckTheirOptionsWhenMade) {
  const auto make = [](const char* text) {
    const PipelineSpec spec = ParsePipeline(text);
    return MakeCalibrator(spec.stages, spec.options);
  };
  EXPECT_NE(make("ts(z, ts.max_iterations=3)"), nullptr);
  ExpectError(ErrorCode::kInvalidArgument, {"ts: unknown option \"speed\""}, [&] {
    make("ts(z, speed=1)");
  });
  ExpectError(ErrorCode::kInvalidArgument, {"\"x.speed\" names no stage"}, [&] {
    make("ts(z, x.speed=1)");
  });
  ExpectError(ErrorCode::kInvalidArgument, {"\"kappa\" is given twice", "\"dc.kappa\""}, [&] {
    make("dc(z, dc.kappa=0.1, kappa=0.2)");
  });
  EXPECT_NE(make("selective+ts(z, selective.epochs=3, max_iterations=3)"), nullptr);
  ExpectError(
      ErrorCode::kInvalidArgument, {"\"none\" cannot stand before a +"}, [&] { make("none+ts"); });
}

TEST(ShortPipeline, LeavesOptionsOut) {
  EXPECT_EQ(ShortPipeline("dc(p, kappa=0.01, lambda=1e-4)"), "dc(p)");
  EXPECT_EQ(ShortPipeline("ts"), "ts(z)");
}

}  // namespace
}  // namespace segcal
