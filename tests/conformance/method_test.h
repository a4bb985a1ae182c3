// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "calibrators/list.h"
#include "core/rng.h"
#include "formats/array.h"
#include "pipeline/fit.h"
#include "pipeline/model.h"
#include "segcal/apply.h"
#include "tests/support/models.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal::testing {

// A test of every calibrator of the list: fits it to scenes and applies it, whatever it needs.
class MethodTest : public ::testing::TestWithParam<const CalibratorInfo*> {
 protected:
  const CalibratorInfo& info() const { return *GetParam(); }

  // What stands before a + gets the simplest calibrator as its base.
  std::string Pipeline(const std::string& pooling = "z") const {
    return std::string(info().name) + (info().composes ? "+ts" : "") + "(" + pooling + ")";
  }
  bool NeedsImage() const {
    return MakeCalibrator(ParsePipeline(Pipeline()).stages, {})->needs().image;
  }

  Scene MakeScene(const SceneOptions& options) const { return Complete(RandomScene(options)); }

  // The scene with an image of two noisy channels per case, if the method looks at images.
  Scene Complete(Scene scene) const {
    if (!NeedsImage()) return scene;
    ArrayInfo image{.dtype = DType::kF32, .shape = scene.shape, .spacing = {}};
    image.shape.push_back(2);
    for (Case& entry : scene.dataset.cases) {
      const size_t index = images_.NumFiles();
      Rng rng(/*seed=*/11, /*stream=*/index);
      std::vector<float> values(static_cast<size_t>(image.NumElements()));
      for (float& value : values) value = static_cast<float>(rng.Normal());
      entry.image = images_.File(std::to_string(index) + ".npy");
      SaveArray(entry.image.path(), image, values.data());
    }
    return scene;
  }

  Model FitTo(const Scene& scene, int threads = 2, const std::string& pooling = "z") const {
    return FitStream(*scene.Stream(threads), ParsePipeline(Pipeline(pooling)), /*seed=*/7);
  }

  // What the model makes of a case, as (C, voxels): through files where it looks at an image, which
  // arrays in memory do not have.
  std::vector<float> Applied(const Model& model,
                             const Scene& scene,
                             size_t case_index,
                             int threads = 1) const {
    if (!NeedsImage()) return ApplyInMemory(model, scene, case_index, threads);
    const TempFolder folder;
    Dataset dataset = WriteScene(scene, folder.File("data"));
    dataset.cases = {dataset.cases[case_index]};
    ApplyOptions options;
    options.run.threads = threads;
    return ReadFloats(Apply(model, dataset, folder.File("out"), options).files.at(0));
  }

 private:
  TempFolder images_;
};

}  // namespace segcal::testing
