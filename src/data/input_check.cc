// SPDX-License-Identifier: Apache-2.0
#include "data/input_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/half.h"
#include "core/throw.h"
#include "kernels/tile.h"

namespace segcal {
namespace {

// Stretches looked at, spread over the case: borders are often filled, the middle is not.
constexpr int64_t kProbes = 9;
constexpr int64_t kProbeVoxels = 64;
// A handful of voxels can be anything.
constexpr int64_t kLeastVoxels = 32;

double ElementAt(const std::byte* bytes, DType dtype, int64_t i) {
  if (dtype == DType::kF64) {
    double value;
    std::memcpy(&value, bytes + i * 8, 8);
    return value;
  }
  if (dtype == DType::kF32) {
    float value;
    std::memcpy(&value, bytes + i * 4, 4);
    return static_cast<double>(value);
  }
  uint16_t bits;
  std::memcpy(&bits, bytes + i * 2, 2);
  return static_cast<double>(FloatFromHalf(bits));
}

// Scores of `count` voxels from `first`, as [voxel][class].
std::vector<double> ReadScores(const CaseReader& reader,
                               const Array& array,
                               int64_t first,
                               int64_t count) {
  const int64_t num_classes = reader.num_classes();
  const DType dtype = array.info().dtype;
  std::vector<std::byte> bytes(static_cast<size_t>(num_classes * count * ElementSize(dtype)));
  std::vector<double> scores(static_cast<size_t>(num_classes * count));
  if (reader.channels_last()) {
    array.Read(first * num_classes, num_classes * count, bytes.data());
    for (int64_t i = 0; i < num_classes * count; ++i)
      scores[static_cast<size_t>(i)] = ElementAt(bytes.data(), dtype, i);
    return scores;
  }
  for (int64_t c = 0; c < num_classes; ++c) {
    array.Read(c * reader.num_voxels() + first, count, bytes.data());
    for (int64_t v = 0; v < count; ++v) {
      scores[static_cast<size_t>(v * num_classes + c)] = ElementAt(bytes.data(), dtype, v);
    }
  }
  return scores;
}

struct Evidence {
  int64_t rows = 0;
  int64_t distributions = 0;  // rows in [0, 1] that sum to one
  int64_t soft = 0;           // of them, not one-hot: a fill of (1, 0, ..., 0) proves nothing
  int64_t normalised = 0;     // rows whose exponentials sum to one
};

// Rows that are no numbers prove nothing; where they count they are found when they are pooled.
void AddRow(const double* row, int64_t num_classes, Evidence* evidence) {
  for (int64_t c = 0; c < num_classes; ++c) {
    if (!(row[c] < std::numeric_limits<double>::infinity())) return;
  }
  double sum = 0.0;
  double exp_sum = 0.0;
  const auto [low, high] = std::minmax_element(row, row + num_classes);
  for (int64_t c = 0; c < num_classes; ++c) {
    sum += row[c];
    exp_sum += std::exp(row[c]);
  }
  ++evidence->rows;
  const bool distribution = *low >= 0.0 && *high <= 1.0 && std::fabs(sum - 1.0) <= 2e-3;
  if (distribution) ++evidence->distributions;
  if (distribution && *high < 0.9999) ++evidence->soft;
  if (std::fabs(exp_sum - 1.0) <= 0.02) ++evidence->normalised;
}

Evidence Probe(const CaseReader& reader, const Array& array) {
  Evidence evidence;
  const int64_t count = std::min(kProbeVoxels, reader.num_voxels());
  for (int64_t p = 0; p < kProbes; ++p) {
    const int64_t first = (reader.num_voxels() - count) / (kProbes - 1) * p;
    const std::vector<double> scores = ReadScores(reader, array, first, count);
    for (int64_t v = 0; v < count; ++v)
      AddRow(scores.data() + v * reader.num_classes(), reader.num_classes(), &evidence);
  }
  return evidence;
}

}  // namespace

void CheckInputKind(const CaseReader& reader) {
  // One class has nothing to tell apart; probabilities are checked voxel by voxel when pooled.
  if (reader.num_classes() < 2 || reader.input() == InputKind::kProbs) return;
  for (int64_t m = 0; m < reader.num_members(); ++m) {
    const Array* array = reader.member(m);
    if (array == nullptr) continue;
    const Evidence evidence = Probe(reader, *array);
    const bool all_distributions = evidence.distributions == evidence.rows && evidence.soft > 0 &&
                                   reader.num_voxels() >= kLeastVoxels;
    if (reader.input() == InputKind::kLogits && all_distributions) {
      Throw(ErrorCode::kBadData,
            "{}: the data set says \"logits\", but all {} voxels looked at are probabilities that "
            "sum to one; "
            "set \"input\": \"probabilities\"",
            array->name(),
            evidence.rows);
    }
    if (reader.input() == InputKind::kLogProbs && 2 * evidence.normalised < evidence.rows) {
      Throw(ErrorCode::kBadData,
            "{}: the data set says \"log_probabilities\", but their exponentials do not sum to one "
            "at {} of {} voxels "
            "looked at; set \"input\": \"logits\"?",
            array->name(),
            evidence.rows - evidence.normalised,
            evidence.rows);
    }
  }
}

}  // namespace segcal
