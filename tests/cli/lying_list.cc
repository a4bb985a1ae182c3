// SPDX-License-Identifier: Apache-2.0
// Takes the place of src/calibrators/list.cc in a program that knows only a calibrator that is not
// what it declares: the way to see `segcal verify` fail.
#include "calibrators/list.h"
#include "tests/support/lying_calibrator.h"

namespace segcal {

const std::vector<const CalibratorInfo*>& Calibrators() {
  static const std::vector<const CalibratorInfo*> list = {&kLying};
  return list;
}

const CalibratorInfo& FindCalibrator(const std::string&) { return kLying; }

std::unique_ptr<Calibrator> MakeCalibrator(const std::vector<std::string>&,
                                           const OptionMap& options) {
  return kLying.make(options, nullptr);
}

OptionMap OptionsOfLastStage(const std::vector<std::string>&, const OptionMap& options) {
  return options;
}

}  // namespace segcal
