// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/options.h"
#include "measures/bin_rule.h"
#include "measures/bins.h"

namespace segcal {

// Options that all binned calibration errors share, docs/methods/bins.md.
struct CalibrationOptions {
  // A set of values for the other options that gives the numbers of a library or paper; options
  // that are given beside it take precedence.
  std::string preset = "paper";
  // Equal-width bins. Kirscher26 uses 50, Ding21 10, Murugesan23 15.
  int64_t bins = 50;
  std::string edges = "closed";
  // How the gaps of the bins become one number: occupancy-weighted mean, root of the mean square,
  // or the largest.
  std::string norm = "mean";
  // Bins of average errors. Many bins leave some with few voxels, which weigh as much as full ones.
  int64_t ace_bins = 15;
  std::string ace_edges = "stretched";
  // Leaves out voxels whose label is the background, and the background from means over classes.
  bool foreground = false;

  template <class Self, class Visitor>
  static void Fields(Self& self, Visitor&& field) {
    field("preset", self.preset, OneOf(PresetNames()));
    field("bins", self.bins, Between(1, kMaxBins));
    field("edges", self.edges, OneOf(EdgeNames()));
    field("norm", self.norm, OneOf({"mean", "rms", "max"}));
    field("ace_bins", self.ace_bins, Between(1, kMaxBins));
    field("ace_edges", self.ace_edges, OneOf(EdgeNames()));
    field("foreground", self.foreground, Any());
  }

  // Cell numbers are 16 bits wide, and float32 edges must stay apart.
  static constexpr double kMaxBins = 10000;
  static std::vector<std::string> PresetNames();

  BinRule rule() const { return {bins, edges}; }
  BinRule ace_rule() const { return {ace_bins, ace_edges}; }
  Norm gap_norm() const;
};

// What a person gave, completed by the preset it names.
OptionMap WithPreset(const OptionMap& given);
CalibrationOptions ParseCalibrationOptions(const std::string& family, const OptionMap& given);

}  // namespace segcal
