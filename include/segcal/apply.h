// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/dtype.h"
#include "segcal/export.h"
#include "segcal/model.h"
#include "segcal/run_options.h"
#include "segcal/views.h"

namespace segcal {

struct ApplyOptions {
  RunOptions run;
  std::string split;  // empty: all cases
  // What to write: "probabilities" (C, spatial...), "confidence", "labels", "entropy" (nats),
  // "temperature", "log_label" (log-probability of the label; needs labels): names of
  // ListOutputs(), each with a format of its own after a colon or without: "labels:nifti". Several
  // go to sub-folders of that name.
  std::vector<std::string> write = {"probabilities"};
  std::string format = "npy";  // a name of ListFormats() that can be written
  DType dtype = DType::kF32;   // kF16 or kF32, for everything but labels
  bool compress = false;       // deflate .npz files
  bool force = false;          // write over files of the data set, and over what is no array
};

struct ApplyResult {
  std::string pipeline;  // that was applied
  std::vector<std::string> files;
  int64_t voxels = 0;
  int64_t renormalised = 0;  // probability rows whose sum was off by more than 1e-3
  std::vector<std::string> skipped;
  std::vector<std::string> warnings;  // what a person should know
};

// Applies a model to every case of a data set and writes folder/<case id>.<extension>. Masked
// voxels get the uncalibrated probabilities. NIfTI files take their geometry from the labels, a
// member, the image or a NIfTI file of the same name beside a member, the first that is NIfTI and
// has the size of the case.
SEGCAL_EXPORT ApplyResult Apply(const Model& model,
                                const Dataset& dataset,
                                const std::string& folder,
                                const ApplyOptions& options = {});

struct NnunetApplyOptions {
  RunOptions run;
  std::string images = {};  // folder of <case>_0000.nii.gz, for calibrators that look at the image
  bool overwrite = false;   // write into a folder that is not empty
};

// Applies a model to predictions that nnU-Net wrote and makes `folder` one that nnU-Net's own tools
// read: <case>.npz with the array "probabilities" and <case>.pkl beside it, the label map with the
// geometry of the one it replaces, dataset.json and plans.json. Pickles are copied, never opened.
// `inputs` are as IndexOptions::nnunet_folders; what is copied comes from the first. The folder
// must be new or empty and none of the inputs.
SEGCAL_EXPORT ApplyResult ApplyNnunet(const Model& model,
                                      const std::vector<std::string>& inputs,
                                      const std::string& folder,
                                      const NnunetApplyOptions& options = {});

// Applies a model to one case, files or memory, classes first, and puts the results into the
// caller's arrays, which may not overlap each other or what is read. Masked voxels get the
// uncalibrated probabilities; labels are not looked at; relative paths start at the working folder.
// Where it is stopped or ends in an Error, arrays are written in part.
SEGCAL_EXPORT void Apply(const Model& model,
                         const Case& entry,
                         const ApplyOutputs& out,
                         const RunOptions& run = {});

// The result as documented in docs/formats.md.
SEGCAL_EXPORT std::string ToJson(const ApplyResult& result);

}  // namespace segcal
