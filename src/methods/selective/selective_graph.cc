// SPDX-License-Identifier: Apache-2.0
#include "methods/selective/selective_scaling.h"
#include "methods/shared/graph.h"

namespace segcal {
namespace {

// log(softmax(z) + 1e-16) (SS1).
std::string AddSelectorFeatures(const GraphInput& in, OnnxBuilder* g) {
  const std::string log_probs = g->LogSoftmax(in.logits);
  const std::string probs = g->Op("Exp", {log_probs});
  const std::string raised = g->Op("Log", {g->Op("Add", {probs, g->Scalar(kTinyProb)})});
  const std::string plain = g->Op("Greater", {log_probs, g->Scalar(kPlainLog)});
  return g->Op("Where", {plain, log_probs, raised});
}

}  // namespace

std::string Selector::AddToGraph(const GraphInput& in, OnnxBuilder* g) const {
  std::string x = AddSelectorFeatures(in, g);
  for (int layer = 0; layer < kHiddenLayers; ++layer) {
    const auto l = static_cast<size_t>(layer);
    const std::vector<float> no_bias(static_cast<size_t>(shape_.outputs(layer)), 0.0f);
    x = g->Affine(x, shape_.outputs(layer), weights_[l], no_bias);
    x = g->Op("Mul", {x, g->PerChannel(scales_[l].scale)});
    x = g->Op("Relu", {g->Op("Add", {x, g->PerChannel(scales_[l].shift)})});
  }
  const double* bias = parameters_.data() + shape_.bias();
  x = g->Affine(x, 2, weights_[kHiddenLayers], {bias, bias + 2});
  return g->Op("Greater", {g->Channels(x, 1, 2), g->Channels(x, 0, 1)});
}

// Softmax does not see the largest logarithm that (SS8) subtracts.
std::string SelectiveScaling::AddToGraph(const GraphInput& in,
                                         const std::string& probs,
                                         const Calibrator& base,
                                         OnnxBuilder* g) const {
  if (!scales()) return probs;
  const std::string logs = g->Op("Log", {g->Op("Max", {probs, g->Scalar(kSmallestProb)})});
  const bool kept = base.properties().preserves != Preserves::kNone;
  const std::string winner = kept ? in.decision : g->ArgMax(probs);
  const auto scale = [&](double by) {
    if (by == 1.0) return probs;
    const std::string scaled = g->Softmax(g->Op("Div", {logs, g->Scalar(by)}));
    return KeepWinnerInGraph(scaled, winner, in.num_classes, g);
  };
  const std::string flat = scale(temperature);
  const std::string others = scale(kept_temperature);
  return g->Op("Where", {selector->AddToGraph(in, g), flat, others});
}

}  // namespace segcal
