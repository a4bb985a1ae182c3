// SPDX-License-Identifier: Apache-2.0
#include "measures/calibration_options.h"

namespace segcal {
namespace {

struct Preset {
  const char* name;
  OptionMap options;
};

// The same rule for expected and average errors, as libraries have it.
OptionMap Both(const std::string& bins, const std::string& edges) {
  return {{"bins", bins}, {"edges", edges}, {"ace_bins", bins}, {"ace_edges", edges}};
}

// Table of docs/methods/bins.md. The first is the default.
const std::vector<Preset>& Presets() {
  static const std::vector<Preset> presets = {
      {"paper", {}},
      {"guo", Both("15", "closed_without_zero")},
      {"torchmetrics", Both("15", "open_one_apart")},
      {"netcal", Both("10", "open")},
      {"monai", Both("20", "closed_stretched")},
      {"s2", Both("10", "closed")},
      {"values", Both("20", "stretched")},
  };
  return presets;
}

}  // namespace

std::vector<std::string> CalibrationOptions::PresetNames() {
  std::vector<std::string> names;
  for (const Preset& preset : Presets()) names.emplace_back(preset.name);
  return names;
}

Norm CalibrationOptions::gap_norm() const {
  if (norm == "rms") return Norm::kRootMeanSquare;
  return norm == "max" ? Norm::kLargest : Norm::kMean;
}

OptionMap WithPreset(const OptionMap& given) {
  OptionMap all = given;
  const auto named = given.find("preset");
  for (const Preset& preset : Presets()) {
    // insert keeps what is there: given options win.
    if (named != given.end() && named->second == preset.name)
      all.insert(preset.options.begin(), preset.options.end());
  }
  return all;
}

CalibrationOptions ParseCalibrationOptions(const std::string& family, const OptionMap& given) {
  return ParseOptions<CalibrationOptions>(family, WithPreset(given));
}

}  // namespace segcal
