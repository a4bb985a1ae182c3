// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/colorize.h"
#include "report/field_picture.h"

namespace segcal {

// One slice of one case, before and after calibration. Arrays are [height][width]; a panel whose
// array is empty is left out.
struct CasePicture {
  std::string title;
  std::string note = {};  // one line under the title, for example the numbers of this case
  SliceSize size = {};
  double pixel_aspect = 1.0;  // height of a pixel over its width
  std::vector<std::string> classes = {};
  std::vector<Rgb> colors = {};  // of the classes; empty: ours
  int64_t background = -1;       // pale among ours; -1: none

  std::vector<Rgb> image = {};
  std::vector<int32_t> labels = {};     // class index or -1
  std::vector<int32_t> predicted = {};  // by the uncalibrated prediction
  // By the calibrated one; a flip panel is drawn where it is given and differs.
  std::vector<int32_t> predicted_after = {};
  std::vector<float> confidence_before = {};
  std::vector<float> confidence_after = {};
  std::vector<ScalarField> fields = {};

  std::string before = "before";  // names for captions
  std::string after = "after";
};

// Image, labels, prediction, errors, flips, confidence before and after on one scale, and fields,
// with a legend of the classes that occur.
std::string CasePictureSvg(const CasePicture& picture);

// Where the confidence scale starts: 1/C rounded down to a tenth, the least a top-label confidence
// can be.
double ConfidenceFloor(int64_t num_classes) noexcept;

}  // namespace segcal
