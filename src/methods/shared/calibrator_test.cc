// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/calibrator.h"

#include <gtest/gtest.h>

#include "tests/support/scene.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;

// As many cases as there are workers may be bound at once: together they stay within the share.
TEST(MakeBindOptions, SharesThreadsAndMemoryAmongCasesBoundAtOnce) {
  struct Expected {
    int64_t cases;
    int workers;
    int threads;
    int64_t parts;
  };
  for (const Expected& e : {Expected{1, 1, 1, 1},
                            Expected{1, 8, 8, 1},
                            Expected{2, 8, 4, 2},
                            Expected{3, 8, 2, 3},
                            Expected{9, 8, 1, 8}}) {
    const Scene scene = RandomScene({.num_cases = e.cases, .num_classes = 2, .shape = {2, 2}});
    const auto stream = scene.Stream(e.workers);
    const BindOptions options = MakeBindOptions(*stream);
    EXPECT_EQ(options.threads, e.threads) << e.cases << " cases, " << e.workers << " workers";
    EXPECT_EQ(options.memory, stream->memory() / 8 / e.parts);
  }
}

}  // namespace
}  // namespace segcal
