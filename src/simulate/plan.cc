// SPDX-License-Identifier: Apache-2.0
#include "simulate/plan.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/throw.h"

namespace segcal {
namespace {

// Labels are bytes, and 255 is void.
constexpr int64_t kMaxClasses = 255;
constexpr int64_t kMaxCases = 1'000'000;
constexpr int64_t kMaxMembers = 1000;
// A case is held in memory, about 24 bytes per logit.
constexpr int64_t kMaxLogits = int64_t{1} << 32;
constexpr int64_t kBlockVoxels = 4096;

void CheckCount(const char* name, int64_t value, int64_t largest) {
  if (value >= 1 && value <= largest) return;
  Throw(ErrorCode::kInvalidArgument, "{} {}: 1 to {} is required", name, value, largest);
}

void CheckRange(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return;
  Throw(ErrorCode::kInvalidArgument, "{} {}: {} to {} is required", name, value, low, high);
}

template <class Enum>
void CheckChoice(const char* what, Enum value, std::initializer_list<Enum> choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  Throw(ErrorCode::kInvalidArgument,
        "{} {}: {} or {} is required",
        what,
        Name(value),
        Name(*choices.begin()),
        Name(*(choices.end() - 1)));
}

int64_t CheckedVoxels(const SimulateOptions& options, const ScenePreset& preset) {
  if (options.size.size() != preset.size.size()) {
    Throw(ErrorCode::kInvalidArgument,
          "size has {} axes, the preset {} has {}",
          options.size.size(),
          preset.name,
          preset.size.size());
  }
  int64_t voxels = 1;
  for (const int64_t n : options.size) {
    if (n < 1) Throw(ErrorCode::kInvalidArgument, "size: an axis of {}, at least 1 is required", n);
    if (n > kMaxLogits / options.num_classes / voxels) {
      Throw(ErrorCode::kInvalidArgument,
            "size: more than {} logits per case with {} classes",
            kMaxLogits,
            options.num_classes);
    }
    voxels *= n;
  }
  return voxels;
}

void CheckNumbers(const SimulateOptions& options) {
  CheckCount("cases", options.num_cases, kMaxCases);
  CheckCount("members", options.num_members, kMaxMembers);
  CheckCount("classes", options.num_classes, kMaxClasses);
  // Bounds keep logits far inside the range of float16, and the noise beyond the border in memory.
  CheckRange("temperature", options.temperature, 0.01, 100.0);
  CheckRange("variation", options.variation, 0.0, 0.95);
  CheckRange("correlation", options.correlation, 0.0, 64.0);
  CheckRange("offset", options.offset, 0.0, 1000.0);
  CheckRange("member noise", options.member_noise, 0.0, 100.0);
  CheckRange("ignore fraction", options.ignore_fraction, 0.0, 0.99);
  CheckChoice("dtype", options.dtype, {DType::kF16, DType::kF32});
  CheckChoice("input", options.input, {InputKind::kLogits, InputKind::kProbs});
}

}  // namespace

SimulationPlan MakePlan(const SimulateOptions& options) {
  SimulationPlan plan;
  plan.preset = &FindPreset(options.preset);
  plan.options = options;
  SimulateOptions& filled = plan.options;
  if (filled.num_classes == -1)
    filled.num_classes = static_cast<int64_t>(plan.preset->regions.size());
  if (filled.size.empty()) filled.size = plan.preset->size;
  if (filled.ignore_fraction == -1.0) filled.ignore_fraction = plan.preset->ignore_fraction;
  CheckNumbers(filled);
  plan.num_voxels = CheckedVoxels(filled, *plan.preset);
  plan.dtype = filled.dtype;
  plan.probabilities = filled.input == InputKind::kProbs;
  plan.sharpness = filled.true_map == "identity" ? 1.0 : filled.temperature;
  return plan;
}

int64_t NumVoxelBlocks(const SimulationPlan& plan) noexcept {
  return (plan.num_voxels + kBlockVoxels - 1) / kBlockVoxels;
}

void ForVoxelBlocks(const SimulationPlan& plan,
                    const std::function<void(int64_t block, int64_t first, int64_t end)>& work) {
  ParallelFor(NumVoxelBlocks(plan), plan.options.threads, [&](int64_t block, int) {
    const int64_t first = block * kBlockVoxels;
    work(block, first, std::min(first + kBlockVoxels, plan.num_voxels));
  });
}

}  // namespace segcal
