// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/graph.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace segcal {
namespace {

// Lists one after the other, each filled up to `stride` numbers.
std::vector<float> Joined(const std::vector<std::vector<float>>& lists, size_t stride, float fill) {
  std::vector<float> joined(lists.size() * stride, fill);
  for (size_t k = 0; k < lists.size(); ++k)
    std::copy(
        lists[k].begin(), lists[k].end(), joined.begin() + static_cast<ptrdiff_t>(k * stride));
  return joined;
}

OnnxTensor Table(const std::vector<float>& numbers) {
  return MakeTensor({static_cast<int64_t>(numbers.size())}, numbers);
}

}  // namespace

std::string GraphImage(const GraphInput& in, int64_t channels, OnnxBuilder* g) {
  if (!in.image.empty()) return in.image;
  OnnxValue image{.name = "image", .type = OnnxType::kFloat32, .shape = in.shape};
  image.shape[1] = channels;
  g->graph().inputs.push_back(image);
  return image.name;
}

std::string IsDecision(const std::string& decision, int64_t num_classes, OnnxBuilder* g) {
  std::vector<int64_t> classes(static_cast<size_t>(num_classes));
  std::iota(classes.begin(), classes.end(), 0);
  return g->Op("Equal", {decision, g->PerChannel(classes)});
}

std::string KeepWinnerInGraph(const std::string& probs,
                              const std::string& decision,
                              int64_t num_classes,
                              OnnxBuilder* g) {
  if (num_classes == 1) return probs;
  const std::string wins = IsDecision(decision, num_classes, g);
  const std::string others = g->Op("Where", {wins, g->Scalar(0.0), probs});
  const std::string least =
      g->Op("Mul", {g->OverChannels("ReduceMax", others), g->Scalar(1.0 + 0x1p-23)});
  return g->Op("Where", {wins, g->Op("Max", {probs, least}), probs});
}

std::string RenormaliseInGraph(const std::string& mapped,
                               const std::string& probs,
                               OnnxBuilder* g) {
  const std::string sum = g->OverChannels("ReduceSum", mapped);
  const std::string known = g->Op("Greater", {sum, g->Scalar(0.0)});
  return g->Op("Where", {known, g->Op("Div", {mapped, sum}), probs});
}

// Halves the stretch where the answer lies, starting at the power of two above the longest list:
// infinite keys fill up the shorter ones and are never counted.
GraphSearch::GraphSearch(const GraphTable& table, const std::string& x, OnnxBuilder* g) : g_(g) {
  for (const std::vector<float>& keys : table.keys) sizes_.push_back(keys.size());
  stride_ = std::bit_ceil(*std::max_element(sizes_.begin(), sizes_.end()) + 1);
  const std::string keys =
      g->Constant(Table(Joined(table.keys, stride_, std::numeric_limits<float>::infinity())));
  const char* compare = table.count_equal ? "LessOrEqual" : "Less";
  count_ = g->PerChannel(Firsts(0));
  for (auto step = static_cast<int32_t>(stride_ / 2); step > 0; step /= 2) {
    const auto ahead = [&](int32_t by) {
      return g->Op("Add", {count_, g->Constant(MakeTensor({}, std::vector<int32_t>{by}))});
    };
    const std::string key = g->Op("Gather", {keys, ahead(step - 1)});
    count_ = g->Op("Where", {g->Op(compare, {key, x}), ahead(step), count_});
  }
}

// Where the numbers of every class begin, and something added.
std::vector<int32_t> GraphSearch::Firsts(int32_t ahead) const {
  std::vector<int32_t> firsts;
  for (size_t k = 0; k < sizes_.size(); ++k)
    firsts.push_back(static_cast<int32_t>(k * stride_) + ahead);
  return firsts;
}

std::string GraphSearch::Lookup(const std::vector<std::vector<float>>& numbers,
                                const std::string& at) {
  return g_->Op("Gather", {g_->Constant(Table(Joined(numbers, stride_, 0.0f))), at});
}

std::string GraphSearch::AtLastBelow(const std::vector<std::vector<float>>& numbers) {
  const std::string one = g_->Constant(MakeTensor({}, std::vector<int32_t>{1}));
  return Lookup(numbers, g_->Op("Max", {g_->Op("Sub", {count_, one}), g_->PerChannel(Firsts(0))}));
}

std::string GraphSearch::AtFirstAbove(const std::vector<std::vector<float>>& numbers) {
  std::vector<int32_t> last = Firsts(-1);
  for (size_t k = 0; k < last.size(); ++k) last[k] += static_cast<int32_t>(sizes_[k]);
  return Lookup(numbers, g_->Op("Min", {count_, g_->PerChannel(last)}));
}

}  // namespace segcal
