// SPDX-License-Identifier: Apache-2.0
#include "export/onnx_pooling.h"

#include <cmath>
#include <limits>

namespace segcal {
namespace {

// How one model pools.
class GraphPooling {
 public:
  GraphPooling(const ModelState& state, const GraphMembers& members, OnnxBuilder* g)
      : members_(members),
        probs_(state.input == InputKind::kProbs),
        mean_probs_(state.spec.pooling.rule == PoolRule::kMeanProbs),
        floor_(state.floor),
        wide_(members.in_float64 && members.names.size() > 1),
        g_(g) {}

  // Logits of the pooled prediction, and its decision.
  struct Pooled {
    std::string logits;
    std::string decision;
  };
  Pooled Pool() const { return members_.names.size() == 1 ? PoolOne() : PoolSeveral(); }

  std::string Number(double value) const { return wide_ ? g_->Scalar64(value) : g_->Scalar(value); }

 private:
  std::string Member(size_t k) const {
    return g_->Cast(members_.names[k], wide_ ? OnnxType::kFloat64 : OnnxType::kFloat32);
  }
  std::string Normalised(const std::string& probs) const {
    return g_->Op("Div", {probs, g_->OverChannels("ReduceSum", probs)});
  }
  std::string Log(const std::string& probs) const {
    const double smallest =
        wide_ ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
    const double lowest = probs_ ? std::exp(floor_) : smallest;
    return g_->Op("Log", {g_->Op("Max", {probs, Number(lowest)})});
  }

  // The decision is that of the input itself: nothing is rounded before it.
  Pooled PoolOne() const {
    const std::string given = Member(0);
    std::string logits = given;
    if (probs_) logits = Log(Normalised(given));
    if (!probs_ && mean_probs_) logits = g_->LogSoftmax(given);
    return {.logits = logits, .decision = g_->ArgMax(given)};
  }

  // What of a member is averaged.
  std::string Prepared(size_t k) const {
    const std::string given = Member(k);
    if (!probs_) return mean_probs_ ? g_->Softmax(given) : given;
    return mean_probs_ ? Normalised(given) : Log(Normalised(given));
  }
  Pooled PoolSeveral() const {
    std::string sum = Prepared(0);
    for (size_t k = 1; k < members_.names.size(); ++k) sum = g_->Op("Add", {sum, Prepared(k)});
    const auto count = static_cast<double>(members_.names.size());
    const std::string mean = g_->Op("Div", {sum, Number(count)});
    return {.logits = mean_probs_ ? Log(mean) : mean, .decision = g_->ArgMax(mean)};
  }

  const GraphMembers& members_;
  bool probs_;
  bool mean_probs_;
  double floor_;
  bool wide_;
  OnnxBuilder* g_;
};

}  // namespace

GraphInput AddPooling(const ModelState& state, const GraphMembers& members, OnnxBuilder* g) {
  const GraphPooling pooling(state, members, g);
  const GraphPooling::Pooled pooled = pooling.Pool();
  const std::string largest = g->OverChannels("ReduceMax", pooled.logits);
  const std::string shifted = g->Op("Sub", {pooled.logits, largest});
  const std::string floored = g->Op("Max", {shifted, pooling.Number(state.floor)});
  return {.num_classes = static_cast<int64_t>(state.classes.size()),
          .shape = members.shape,
          .logits = g->Cast(floored, OnnxType::kFloat32),
          .offset = g->Cast(largest, OnnxType::kFloat32),
          .decision = pooled.decision,
          .image = {}};
}

}  // namespace segcal
