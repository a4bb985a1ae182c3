// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"
#include "core/throw.h"
#include "methods/selective/selector_network.h"

namespace segcal {
namespace {

// Copies a field of numbers that must have this length.
void Read(JsonObject* object, const std::string& key, std::span<double> into) {
  const std::vector<double> numbers = object->Numbers(key, static_cast<int64_t>(into.size()));
  std::copy(numbers.begin(), numbers.end(), into.begin());
}

void CheckVariances(const std::vector<double>& variances, const std::string& where) {
  for (const double variance : variances) {
    if (variance >= 0.0) continue;
    Throw(ErrorCode::kBadData, "{}: variance {}, at least 0 is required", where, variance);
  }
}

}  // namespace

Json Selector::ToJson() const {
  const auto part = [&](int64_t offset, int64_t count) {
    return JsonNumbers(
        std::span(parameters_).subspan(static_cast<size_t>(offset), static_cast<size_t>(count)));
  };
  Json layers = Json::array();
  for (int layer = 0; layer <= kHiddenLayers; ++layer) {
    const auto l = static_cast<size_t>(layer);
    Json json = {{"weights", part(shape_.weights(layer), shape_.num_weights(layer))}};
    if (layer == kHiddenLayers) {
      json["bias"] = part(shape_.bias(), shape_.outputs(layer));
    } else {
      json["gamma"] = part(shape_.gamma(layer), shape_.outputs(layer));
      json["beta"] = part(shape_.beta(layer), shape_.outputs(layer));
      json["mean"] = JsonNumbers(statistics_.mean[l]);
      json["variance"] = JsonNumbers(statistics_.variance[l]);
    }
    layers.push_back(std::move(json));
  }
  return layers;
}

Selector Selector::FromJson(const Json& json, int64_t num_classes, const std::string& where) {
  const SelectorShape shape(num_classes);
  if (!json.is_array() || json.size() != kHiddenLayers + 1) {
    Throw(ErrorCode::kBadData, "{}: an array of {} layers is required", where, kHiddenLayers + 1);
  }
  std::vector<double> parameters(static_cast<size_t>(shape.size()));
  const auto part = [&](int64_t offset, int64_t count) {
    return std::span(parameters).subspan(static_cast<size_t>(offset), static_cast<size_t>(count));
  };
  SelectorStatistics statistics;
  for (int layer = 0; layer <= kHiddenLayers; ++layer) {
    const auto l = static_cast<size_t>(layer);
    JsonObject object(json[l], where + ": layer " + std::to_string(layer));
    Read(&object, "weights", part(shape.weights(layer), shape.num_weights(layer)));
    if (layer == kHiddenLayers) {
      Read(&object, "bias", part(shape.bias(), shape.outputs(layer)));
    } else {
      Read(&object, "gamma", part(shape.gamma(layer), shape.outputs(layer)));
      Read(&object, "beta", part(shape.beta(layer), shape.outputs(layer)));
      statistics.mean[l].resize(static_cast<size_t>(shape.outputs(layer)));
      statistics.variance[l].resize(statistics.mean[l].size());
      Read(&object, "mean", statistics.mean[l]);
      Read(&object, "variance", statistics.variance[l]);
      CheckVariances(statistics.variance[l], object.where());
    }
    object.Finish();
  }
  return Selector(shape, std::move(parameters), std::move(statistics));
}

}  // namespace segcal
