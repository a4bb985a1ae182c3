// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "fuzz/memory_file.h"
#include "segcal/error.h"
#include "segcal/model.h"

namespace segcal {
namespace {

constexpr int64_t kVoxels = 3;
constexpr size_t kMaxClasses = 64;

// A model that loads reads back what it writes.
void CheckRoundTrip(const Model& model) {
  const std::string text = model.ToJson();
  if (Model::FromJson(text).ToJson() != text) std::abort();
}

void CheckApply(const Model& model) {
  const auto num_classes = static_cast<int64_t>(model.classes().size());
  const std::vector<float> values(static_cast<size_t>(num_classes * kVoxels), -1.0f);
  std::vector<float> probs(values.size());
  const ArrayView view = MakeView(values.data(), {num_classes, kVoxels});
  const ApplyOutputs out{.probabilities = MakeSpan(probs.data(), {num_classes, kVoxels})};
  switch (model.input()) {
    case InputKind::kLogits:
      model.Apply(LogitsView{view}, out, 1);
      break;
    case InputKind::kLogProbs:
      model.Apply(LogProbsView{view}, out, 1);
      break;
    case InputKind::kProbs:
      model.Apply(ProbsView{view}, out, 1);
      break;
  }
  for (const float q : probs) {
    if (!(q >= 0.0f && q <= 1.001f)) std::abort();
  }
}

}  // namespace
}  // namespace segcal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const segcal::MemoryFile file({reinterpret_cast<const std::byte*>(data), size});
  try {
    const segcal::Model model = segcal::Model::Load(file.path());
    segcal::CheckRoundTrip(model);
    if (model.classes().size() <= segcal::kMaxClasses) segcal::CheckApply(model);
  } catch (const segcal::Error&) {
  }
  return 0;
}
