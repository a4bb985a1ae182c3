// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"
#include "cli/program.h"

namespace segcal::cli {
namespace {

constexpr Command kCommands[] = {
    {"simulate", "Make a data set whose true probabilities are known", &SetUpSimulate},
    {"index", "Write a data set file from file name patterns", &SetUpIndex},
    Shared("inspect", "Show what is in a data set or a model", &SetUpInspect),
    Shared("fit", "Fit a calibrator on held-out predictions", &SetUpFit),
    Shared("apply", "Write calibrated probabilities", &SetUpApply),
    Shared("evaluate", "Measure calibration and segmentation quality", &SetUpEvaluate),
    {"merge", "Join what the parts of a job have left", &SetUpMerge},
    {"fuse", "Fuse candidate segmentations into one", &SetUpFuse},
    {"corrupt", "Corrupt images, to see how predictions hold up", &SetUpCorrupt},
    {"export", "Write a model as an ONNX graph", &SetUpExport},
    Shared("compare", "Run a whole study and recommend a calibrator", &SetUpCompare),
    {"report", "Make the page of a study", &SetUpReport},
    {"verify", "Check what a model declares, on the values it emits", &SetUpVerify},
    {"train", "Train an ensemble of segmentation networks", nullptr, "segcal-train"},
    {"predict", "Write the logits of trained networks", nullptr, "segcal-train"},
    {"export-networks", "Write trained networks as an ONNX graph", nullptr, "segcal-train"},
};

constexpr const char* kFooter =
    "A first run, from nothing:\n"
    "  segcal simulate demo --preset street\n"
    "  segcal fit demo -p 'ts(z)' -o model.json\n"
    "  segcal evaluate demo -p 'none(z)' -m model.json --split test --figures figures\n\n"
    "Exit codes: 0 ok, 1 internal error, 2 wrong usage, 3 bad data, 4 input/output error,\n"
    "5 verify: the declaration does not hold, 130 stopped by Ctrl-C, 143 by SIGTERM.";

}  // namespace

Program SegcalProgram() { return {.footer = kFooter, .commands = kCommands}; }

}  // namespace segcal::cli
