// SPDX-License-Identifier: Apache-2.0
#include "simulate/predictions.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/half.h"
#include "core/parallel.h"
#include "formats/array.h"
#include "simulate/fields.h"
#include "simulate/true_map.h"

namespace segcal {
namespace {

// Sizes of disturbances, in parts of the shorter side: members disagree in detail, offsets drift.
constexpr double kMemberLength = 0.008;
constexpr double kOffsetLength = 0.08;
// The floor of probability input: lower probabilities are not told apart.
constexpr double kProbFloor = 1e-8;

std::span<float> Row(std::vector<float>* values, int64_t c, int64_t num_voxels) {
  return std::span(*values).subspan(static_cast<size_t>(c * num_voxels),
                                    static_cast<size_t>(num_voxels));
}

void SoftmaxInPlace(const SimulationPlan& plan, std::vector<float>* values) {
  ForVoxelBlocks(plan, [&](int64_t, int64_t first, int64_t end) {
    std::vector<double> z(static_cast<size_t>(plan.num_classes()));
    for (int64_t v = first; v < end; ++v) {
      float* column = values->data() + v;
      for (size_t c = 0; c < z.size(); ++c)
        z[c] = static_cast<double>(column[static_cast<int64_t>(c) * plan.num_voxels]);
      LogSoftmax(z);
      for (size_t c = 0; c < z.size(); ++c)
        column[static_cast<int64_t>(c) * plan.num_voxels] = static_cast<float>(std::exp(z[c]));
    }
  });
}

}  // namespace

std::vector<float> SharedLogits(const SimulationPlan& plan,
                                const Scene& scene,
                                const CaseStreams& streams) {
  std::vector<float> logits(static_cast<size_t>(plan.num_classes() * plan.num_voxels));
  ParallelFor(plan.num_classes(), plan.options.threads, [&](int64_t c, int) {
    const std::vector<float> scores = ClassScores(*plan.preset, scene, c, streams);
    const auto factor = static_cast<float>(plan.sharpness);
    std::transform(
        scores.begin(), scores.end(), Row(&logits, c, plan.num_voxels).begin(), [factor](float s) {
          return factor * s;
        });
  });
  return logits;
}

std::vector<float> MemberPrediction(const SimulationPlan& plan,
                                    const std::vector<float>& shared,
                                    int64_t member,
                                    const CaseStreams& streams) {
  const std::vector<int64_t>& shape = plan.shape();
  const std::vector<float> offset =
      GaussianField(shape, InVoxels(kOffsetLength, shape), streams.Of(StreamUse::kOffset, member));
  std::vector<float> values = shared;
  ParallelFor(plan.num_classes(), plan.options.threads, [&](int64_t c, int) {
    const Rng rng = streams.Of(StreamUse::kMember, member * plan.num_classes() + c);
    const std::vector<float> noise = GaussianField(shape, InVoxels(kMemberLength, shape), rng);
    const std::span<float> row = Row(&values, c, plan.num_voxels);
    const auto noise_size = static_cast<float>(plan.options.member_noise);
    const auto offset_size = static_cast<float>(plan.options.offset);
    for (size_t v = 0; v < row.size(); ++v)
      row[v] += noise_size * noise[v] + offset_size * offset[v];
  });
  if (plan.probabilities) SoftmaxInPlace(plan, &values);
  if (plan.dtype == DType::kF16) {
    for (float& x : values) x = FloatFromHalf(HalfFromFloat(x));
  }
  return values;
}

void SavePrediction(const std::string& path,
                    const SimulationPlan& plan,
                    const std::vector<float>& values) {
  ArrayInfo info{.dtype = plan.dtype, .shape = plan.shape(), .spacing = {}};
  info.shape.insert(info.shape.begin(), plan.num_classes());
  if (plan.dtype == DType::kF32) {
    SaveArray(path, info, values.data());
    return;
  }
  std::vector<uint16_t> halves(values.size());
  std::transform(values.begin(), values.end(), halves.begin(), &HalfFromFloat);
  SaveArray(path, info, halves.data());
}

void AddToPool(const SimulationPlan& plan,
               const std::vector<float>& stored,
               std::vector<double>* pooled) {
  const double weight = 1.0 / static_cast<double>(plan.options.num_members);
  ForVoxelBlocks(plan, [&](int64_t, int64_t first, int64_t end) {
    for (int64_t v = first; v < end; ++v) {
      double sum = 0.0;
      for (int64_t c = 0; c < plan.num_classes(); ++c) {
        sum += static_cast<double>(stored[static_cast<size_t>(c * plan.num_voxels + v)]);
      }
      for (int64_t c = 0; c < plan.num_classes(); ++c) {
        const auto i = static_cast<size_t>(c * plan.num_voxels + v);
        const auto x = static_cast<double>(stored[i]);
        (*pooled)[i] += weight * (plan.probabilities ? std::log(std::max(x / sum, kProbFloor)) : x);
      }
    }
  });
}

}  // namespace segcal
