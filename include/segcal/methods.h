// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "segcal/export.h"

namespace segcal {

// What there is to choose from. Help and checks of arguments are made of these lists, whose order
// is that of tables; nothing else enumerates methods.

// Options and the values they have unless given.
using OptionDefaults = std::map<std::string, std::string>;

struct CalibratorDescription {
  std::string name;  // as in a pipeline: "ts"
  std::string summary;
  std::string reference;  // key in docs/references.md
  std::string page;       // docs/methods/<page>.md
  OptionDefaults options;
  bool composes = false;  // takes another one behind it: "selective+ts"
};
SEGCAL_EXPORT std::vector<CalibratorDescription> ListCalibrators();

// A named list of pipelines that people compare.
struct PipelineSet {
  std::string name;
  std::string summary;
  std::vector<std::string> pipelines;
};
SEGCAL_EXPORT std::vector<PipelineSet> ListPipelineSets();

// Which value of a metric is the best one.
enum class Goal { kLow, kHigh, kZero, kNone };

struct MetricDescription {
  std::string name;
  std::string summary;
  Goal goal = Goal::kNone;
  bool pooled = false;  // over all voxels, else the mean over cases
};

// Metrics that are computed together and share options.
struct MetricFamilyDescription {
  std::string name;
  std::string reference;  // key in docs/references.md
  std::vector<MetricDescription> metrics;
  OptionDefaults options;
  bool on_request = false;  // computed only when it is named
};
SEGCAL_EXPORT std::vector<MetricFamilyDescription> ListMetrics();

struct FormatDescription {
  std::string name;
  std::string summary;
  std::vector<std::string> extensions;  // with the dot; new files get the first
  bool writes = false;                  // else it is read only, and what follows is false
  bool writes_floats = false;           // else whole numbers alone
  bool writes_float16 = false;
  bool writes_volumes = false;  // else (H, W) alone: neither a third axis nor one of classes
};
SEGCAL_EXPORT std::vector<FormatDescription> ListFormats();

// What Apply writes per voxel, see ApplyOptions::write.
struct OutputDescription {
  std::string name;
  std::string summary;
  bool per_class = false;  // (C, spatial...), else (spatial...)
  bool needs_labels = false;
};
SEGCAL_EXPORT std::vector<OutputDescription> ListOutputs();

// Kernels are compiled once per instruction set ("target"); the best one the machine has is chosen
// at the first call of any kernel. The environment variable SEGCAL_TARGET, read once at that
// moment, pins another one by name, for example SSE4: sums may differ in their last bits between
// targets.

// Names of the compiled targets this machine can run, best first.
SEGCAL_EXPORT std::vector<std::string> SupportedTargets();

// The target kernels run on. An Error if SEGCAL_TARGET names none of SupportedTargets(): kernels
// cannot fail and use the best one then, so a program calls this once before its work.
SEGCAL_EXPORT std::string ActiveTarget();

// All kernels use target `name` from now on; an Error if it is not one of SupportedTargets(). Not
// to be called while kernels run.
SEGCAL_EXPORT void PinTarget(const std::string& name);

}  // namespace segcal
