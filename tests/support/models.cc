// SPDX-License-Identifier: Apache-2.0
#include "tests/support/models.h"

#include "core/json.h"
#include "pipeline/fit.h"
#include "pipeline/model.h"

namespace segcal::testing {

Model TemperatureModel(const Dataset& dataset, double beta, const std::string& pooling) {
  const PipelineSpec spec = ParsePipeline("ts(" + pooling + ")");
  return WithParameters(UnfittedModel(spec, dataset.classes, dataset.input.value()),
                        {{"beta", beta}});
}

Model WithParameters(const Model& model, const Json& parameters) {
  Json json = ParseJson(model.ToJson(), "test");
  json["parameters"] = parameters;
  return Model::FromJson(DumpJson(json), "test");
}

Model FitAs(const std::string& pipeline, const Scene& scene, uint64_t seed, int threads) {
  return FitStream(*scene.Stream(threads), ParsePipeline(pipeline), seed);
}

std::vector<float> ApplyInMemory(const Model& model,
                                 const Scene& scene,
                                 size_t case_index,
                                 int threads) {
  const int64_t num_classes = scene.dataset.num_classes();
  std::vector<int64_t> shape = scene.shape;
  shape.insert(shape.begin(), num_classes);
  std::vector<LogitsView> members;
  for (const auto& member : scene.logits[case_index])
    members.push_back({MakeView(member.data(), shape)});
  std::vector<float> out(static_cast<size_t>(num_classes * scene.num_voxels()), -1.0f);
  model.Apply(members, {.probabilities = MakeSpan(out.data(), shape)}, threads);
  return out;
}

}  // namespace segcal::testing
