// SPDX-License-Identifier: Apache-2.0
#include "tests/support/models.h"

#include "core/json.h"
#include "pipeline/fit.h"
#include "pipeline/model.h"

namespace segcal::testing {

Model TemperatureModel(const Dataset& dataset, double beta, const std::string& pooling) {
  const PipelineSpec spec = ParsePipeline("ts(" + pooling + ")");
  Model model = UnfittedModel(spec, dataset.classes, dataset.input);
  model.state().calibrator->SetParameters({{"beta", beta}}, dataset.num_classes(), "test");
  return model;
}

Model FitAs(const std::string& pipeline, const Scene& scene, uint64_t seed, int threads) {
  return FitStream(*scene.Stream(threads), ParsePipeline(pipeline), seed);
}

const FitOutcome& OutcomeOf(const Model& model) { return model.state().fit.outcome; }

LogitsView ViewOf(const std::vector<float>& values, int64_t num_classes) {
  LogitsView view;
  view.data = values.data();
  view.num_classes = num_classes;
  view.num_voxels = static_cast<int64_t>(values.size()) / num_classes;
  view.class_stride = view.num_voxels;
  return view;
}

std::vector<float> ApplyInMemory(const Model& model,
                                 const Scene& scene,
                                 size_t case_index,
                                 int threads) {
  const int64_t num_classes = scene.dataset.num_classes();
  std::vector<LogitsView> members;
  for (const auto& member : scene.logits[case_index]) {
    members.push_back(ViewOf(member, num_classes));
    members.back().shape = scene.shape;
  }
  std::vector<float> out(static_cast<size_t>(num_classes * scene.num_voxels()), -1.0f);
  model.Apply(members,
              {.data = out.data(),
               .num_classes = num_classes,
               .num_voxels = scene.num_voxels(),
               .class_stride = scene.num_voxels()},
              threads);
  return out;
}

}  // namespace segcal::testing
