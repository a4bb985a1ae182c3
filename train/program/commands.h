// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.h"

namespace segcal::train {

cli::Action SetUpTrain(CLI::App& app);
cli::Action SetUpPredict(CLI::App& app);
cli::Action SetUpExportNetworks(CLI::App& app);

}  // namespace segcal::train
