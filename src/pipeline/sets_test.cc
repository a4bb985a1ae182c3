// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "calibrators/list.h"
#include "pipeline/spec.h"
#include "segcal/error.h"
#include "segcal/fit.h"
#include "segcal/methods.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

bool Contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

TEST(PipelineSets, HoldPipelinesInCanonicalFormOnce) {
  for (const PipelineSet& set : ListPipelineSets()) {
    const std::vector<std::string>& pipelines = set.pipelines;
    EXPECT_EQ(std::set<std::string>(pipelines.begin(), pipelines.end()).size(), pipelines.size());
    for (const std::string& pipeline : pipelines)
      EXPECT_EQ(FormatPipeline(ParsePipeline(pipeline)), pipeline) << set.name;
  }
}

TEST(PipelineSets, AllHasEveryMethodWithoutImagesAndPreservingThoseThatKeepTheDecision) {
  const std::vector<std::string> all = ExpandPipelines({"all"});
  const std::vector<std::string> preserving = ExpandPipelines({"preserving"});
  for (const CalibratorInfo* info : Calibrators()) {
    const std::string pipeline = std::string(info->name) + "(p)";
    const std::unique_ptr<Calibrator> calibrator = MakeCalibrator({info->name}, {});
    const bool keeps = calibrator->properties().preserves != Preserves::kNone;
    EXPECT_EQ(Contains(all, pipeline), !calibrator->needs().image) << pipeline;
    EXPECT_EQ(Contains(preserving, pipeline), keeps && !calibrator->needs().image) << pipeline;
  }
}

TEST(ExpandPipelines, MixesSetsAndPipelinesWithoutRepeating) {
  const std::vector<std::string> pipelines = ExpandPipelines({"dc( p )", "fast", "ts"});
  EXPECT_EQ(pipelines.front(), "dc(p)");
  EXPECT_EQ(pipelines.size(), 1 + ExpandPipelines({"fast"}).size());
}

TEST(ExpandPipelines, TakesSeveralSeparatedByCommas) {
  EXPECT_EQ(ExpandPipelines({"ts(z),ms(p, kappa=0.1, mu=0), ts(z)"}),
            (std::vector<std::string>{"ts(z)", "ms(p, kappa=0.1, mu=0)"}));
  EXPECT_EQ(ExpandPipelines({"fast,ts(z)"}), ExpandPipelines({"fast"}));
}

TEST(ExpandPipelines, RefusesWhatIsNeitherAndNamesBoth) {
  testing::ExpectError(ErrorCode::kInvalidArgument, {"papers", "cms_ap", "preserving"}, [] {
    ExpandPipelines({"papers"});
  });
}

}  // namespace
}  // namespace segcal
