// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/export.h"
#include "segcal/progress.h"

namespace segcal {

// How strongly images are changed; docs/methods/corruptions.md has the numbers.
enum class Severity { kMild, kStrong };

// As in files and messages: "mild", "strong".
constexpr const char* Name(Severity severity) noexcept {
  return severity == Severity::kMild ? "mild" : "strong";
}

struct CorruptionDescription {
  std::string name;  // "fog"
  std::string summary;
  std::string mild;  // the setting of each severity: "alpha 0.1"
  std::string strong;
};
SEGCAL_EXPORT std::vector<CorruptionDescription> ListCorruptions();

// The values that stand for black and white.
struct IntensityRange {
  double low = 0.0;
  double high = 1.0;
};

struct CorruptOptions {
  Severity severity = Severity::kMild;
  std::string only;  // one of ListCorruptions() for all; empty: each image draws its own
  uint64_t seed = 0;
  std::string split;  // only the cases of this split; empty: all
  // Empty: 0 to 255 and 0 to 65535 for images of 8 and 16 unsigned bits, 0 to 1 for floats. Other
  // types need one of the two.
  std::optional<IntensityRange> range;
  bool range_of_image = false;  // the smallest and the largest value of each image
  // Of bare files with three axes that do not tell, such as .npy: 2 for (H, W, channels), 3 for (D,
  // H, W). 0: such a file is an Error.
  int spatial_axes = 0;

  int threads = 0;  // 0: all available; the files do not depend on it
  ProgressCallback progress;
};

struct CorruptedImage {
  std::string id;
  std::string file;        // relative to the folder
  std::string corruption;  // its name
  std::string setting;     // "alpha 0.5"
};

struct CorruptResult {
  Severity severity = Severity::kMild;
  uint64_t seed = 0;
  std::vector<CorruptedImage> images;
};

// Corrupts the image of every case, each by one type that follows from the id of the case and the
// seed, and writes to `folder`, which must be new or empty: images/<id>.<extension>,
// corruptions.json (which image got what) and dataset.json, in which the same labels belong to the
// new images. Predictions are left out of it: they are of the old images. Labels stay true, since
// no pixel moves. Masks, groups and splits are kept. The same bytes for any number of threads.
SEGCAL_EXPORT CorruptResult Corrupt(const Dataset& dataset,
                                    const std::string& folder,
                                    const CorruptOptions& options);

// The same for image files, each called by its name without folder and extension; without
// dataset.json.
SEGCAL_EXPORT CorruptResult Corrupt(const std::vector<std::string>& images,
                                    const std::string& folder,
                                    const CorruptOptions& options);

// The image files in a folder, sorted; files of other extensions are left out. None is an Error.
SEGCAL_EXPORT std::vector<std::string> FindImages(const std::string& folder);

// A picture as documented in docs/pictures.md: one case, clean and under every corruption. `id`
// empty: the first. Of a volume, the middle slice.
SEGCAL_EXPORT std::string CorruptionFigure(const Dataset& dataset,
                                           const std::string& id,
                                           const CorruptOptions& options);
SEGCAL_EXPORT std::string CorruptionFigure(const std::vector<std::string>& images,
                                           const std::string& id,
                                           const CorruptOptions& options);

// The content of corruptions.json, see docs/formats.md.
SEGCAL_EXPORT std::string ToJson(const CorruptResult& result);

}  // namespace segcal
