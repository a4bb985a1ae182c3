// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "tests/support/scene.h"

namespace segcal::testing {

// Values as the bytes of another type; floats are rounded to the nearest.
std::vector<std::byte> ConvertTo(DType dtype, const std::vector<float>& values);

// [classes][voxels] as [voxels][classes].
std::vector<float> ChannelsLast(const std::vector<float>& values, int64_t num_classes);

struct SceneFileOptions {
  DType dtype = DType::kF32;
  bool channels_last = false;
};

// Writes a scene as .npy files and a dataset.json into `folder` and returns the data set as loaded.
Dataset WriteScene(const Scene& scene,
                   const std::string& folder,
                   const SceneFileOptions& options = {});

// A whole array of float32 values from a file.
std::vector<float> ReadFloats(const std::string& path);
// The same of float16 values, widened.
std::vector<float> ReadHalves(const std::string& path);

// The class with the largest value at each voxel of [classes][voxels], ties to the lowest.
std::vector<int32_t> Argmax(const std::vector<float>& values, int64_t num_classes);

}  // namespace segcal::testing
