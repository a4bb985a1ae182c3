// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/colorize.h"
#include "report/panels.h"

namespace segcal {

// One number per pixel of a slice: free energy, temperature, entropy.
struct ScalarField {
  std::string caption;
  std::vector<float> values = {};  // [height][width]; not finite: hatched
  // Ends of the scale; empty means the smallest and largest finite value.
  std::optional<double> low = {};
  std::optional<double> high = {};
  bool with_next = false;  // belongs beside the next one
};

struct FieldPicture {
  std::string title;
  std::string note = {};  // one line under the title, may be empty
  SliceSize size = {};
  double pixel_aspect = 1.0;  // height of a pixel over its width
  std::vector<ScalarField> fields = {};
};

// A field as a panel with its scale below.
PicturePanel FieldPanel(const ScalarField& field, SliceSize size);

// The fields side by side, each with its own scale.
std::string FieldPictureSvg(const FieldPicture& picture);

}  // namespace segcal
