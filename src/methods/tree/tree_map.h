// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "data/case_image.h"
#include "methods/shared/calibrator.h"
#include "methods/tree/box_reader.h"

namespace segcal {

// What of a case a tree looks at.
struct TreeInput {
  Pooling pooling;
  ScoreKind scores = ScoreKind::kCanonical;
  int64_t image_channels = 0;  // 0: no image
};

// The image of a case with the channels the tree takes, another number is an Error; nothing for a
// tree without image.
std::optional<CaseImage> OpenImage(const CaseReader& reader, const TreeInput& input);

// The bytes of the boxes that one of `threads` workers may hold.
int64_t BoxBytes(const BindOptions& options);

// The temperature of every voxel of a case, in C order. Box by box in bounded memory; the bits do
// not depend on how the case is cut.
std::vector<float> TemperatureMap(const CaseReader& reader,
                                  const TreeInput& input,
                                  const TreeWeights& weights,
                                  const BindOptions& options);

}  // namespace segcal
