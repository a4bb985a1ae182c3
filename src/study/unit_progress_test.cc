// SPDX-License-Identifier: Apache-2.0
#include "study/unit_progress.h"

#include <gtest/gtest.h>

#include "core/json.h"

namespace segcal {
namespace {

TEST(UnitProgress, TellsWhatHappensInsideOneUnit) {
  Progress told;
  UnitProgress units(ListenOnly([&](const Progress& progress) { told = progress; }), 5);
  const ProgressCallback listener = units.Listener();
  const int64_t unit = units.Begin("fit ts(z)");
  listener({.stage = "survey", .done = 3, .total = 9});
  EXPECT_EQ(told.stage, "unit 1 of 5, fit ts(z): survey");
  EXPECT_EQ(told.done, 3);
  EXPECT_EQ(told.total, 9);
  EXPECT_GE(units.End(unit), 0.0);
  units.Skip("fit ms(z)", 2.5);
  units.Forget(1);
  listener({.stage = ""});
  EXPECT_EQ(told.stage, "unit 3 of 4, about 0 s left");
}

TEST(UnitProgress, CountsUnitsWhereSeveralAreUnderWay) {
  Progress told;
  UnitProgress units(ListenOnly([&](const Progress& progress) { told = progress; }), 9);
  const ProgressCallback listener = units.Listener();
  const int64_t first = units.Begin("fit ts(z)");
  units.Begin("fit ms(z)");
  const int64_t third = units.Begin("fit dc(z)");
  units.Begin("fit vs(z)");
  units.Skip("fit ets(z)", 1.0);
  listener({.stage = "fit, pass 2", .done = 3, .total = 1000, .detail = "pass"});
  EXPECT_EQ(told.stage, "units 2 to 5 of 9, fit ts(z), fit ms(z) and 2 more");
  EXPECT_EQ(told.done, 1);
  EXPECT_EQ(told.total, 9);
  EXPECT_EQ(told.detail, "");
  units.End(first);
  units.Drop(third);
  listener({.stage = "fit, pass 3", .done = 3, .total = 1000});
  EXPECT_EQ(told.stage, "units 3 to 4 of 9, about 0 s left, fit ms(z), fit vs(z)");
  const Json timings = ParseJson(TimingsJson(units), "timings");
  EXPECT_EQ(timings["units"].size(), 2u);  // what was dropped is not one
  EXPECT_EQ(timings["units"][0]["seconds"], 1.0);
}

}  // namespace
}  // namespace segcal
