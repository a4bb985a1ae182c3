// SPDX-License-Identifier: Apache-2.0
#include "measures/calibration_options.h"

#include <gtest/gtest.h>

#include "segcal/error.h"

namespace segcal {
namespace {

TEST(CalibrationOptions, APresetSetsWhatIsNotGiven) {
  const CalibrationOptions netcal = ParseCalibrationOptions("x", {{"preset", "netcal"}});
  EXPECT_EQ(netcal.rule(), (BinRule{10, "open"}));
  EXPECT_EQ(netcal.ace_rule(), (BinRule{10, "open"}));
  const CalibrationOptions finer =
      ParseCalibrationOptions("x", {{"preset", "netcal"}, {"bins", "30"}});
  EXPECT_EQ(finer.rule(), (BinRule{30, "open"}));
}

TEST(CalibrationOptions, TheDefaultIsTheMainPaper) {
  const CalibrationOptions none = ParseCalibrationOptions("x", {});
  EXPECT_EQ(none.rule(), ParseCalibrationOptions("x", {{"preset", "paper"}}).rule());
  EXPECT_EQ(none.rule(), (BinRule{50, "closed"}));
  EXPECT_EQ(none.ace_rule(), (BinRule{15, "stretched"}));
}

TEST(CalibrationOptions, RefuseUnknownNames) {
  EXPECT_THROW(ParseCalibrationOptions("x", {{"preset", "ours"}}), Error);
  EXPECT_THROW(ParseCalibrationOptions("x", {{"edges", "round"}}), Error);
  EXPECT_THROW(ParseCalibrationOptions("x", {{"norm", "3"}}), Error);
  EXPECT_THROW(ParseCalibrationOptions("x", {{"bins", "0"}}), Error);
}

}  // namespace
}  // namespace segcal
