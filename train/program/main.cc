// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"
#include "train/program/commands.h"

namespace segcal::train {
namespace {

constexpr cli::Command kCommands[] = {
    {"train", "Train an ensemble of segmentation networks", &SetUpTrain},
    {"predict", "Write the logits of trained networks", &SetUpPredict},
    {"export-networks", "Write trained networks as an ONNX graph", &SetUpExportNetworks},
};

constexpr const char* kFooter =
    "From nothing to calibrated predictions:\n"
    "  segcal simulate photos --images --cases 40 --size 192x256\n"
    "  segcal train photos --loss nacl --members 3 -o networks\n"
    "  segcal predict networks photos -o predictions\n"
    "  segcal fit predictions -p 'ts(z)' -o model.json";

}  // namespace
}  // namespace segcal::train

int main(int argc, char** argv) {
  using namespace segcal::train;
  return segcal::cli::RunProgram({.footer = kFooter, .commands = kCommands}, argc, argv);
}
