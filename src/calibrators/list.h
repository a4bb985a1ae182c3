// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "methods/shared/calibrator_info.h"

namespace segcal {

const std::vector<const CalibratorInfo*>& Calibrators();

// The descriptor of a name, or an Error that lists the names.
const CalibratorInfo& FindCalibrator(const std::string& name);

// stages = {"selective", "ts"} for `selective+ts`. Options belong to the last stage unless written
// "stage.key"; one that is written both ways is refused.
std::unique_ptr<Calibrator> MakeCalibrator(const std::vector<std::string>& stages,
                                           const OptionMap& options);

// What is given to the last stage, which is the one that is searched, without its name.
OptionMap OptionsOfLastStage(const std::vector<std::string>& stages, const OptionMap& options);

}  // namespace segcal
