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
  if (dtype == DType::kBF16) {
    BFloat16 value;
    std::memcpy(&value, bytes + i * 2, 2);
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

// Calls look(scores, voxels) for every stretch until it says no.
template <class Look>
void ForEachProbe(const CaseReader& reader, const Array& array, const Look& look) {
  const int64_t count = std::min(kProbeVoxels, reader.num_voxels());
  for (int64_t p = 0; p < kProbes; ++p) {
    const int64_t first = (reader.num_voxels() - count) / (kProbes - 1) * p;
    if (!look(ReadScores(reader, array, first, count), count)) return;
  }
}

Evidence Probe(const CaseReader& reader, const Array& array) {
  Evidence evidence;
  ForEachProbe(reader, array, [&](const std::vector<double>& scores, int64_t count) {
    for (int64_t v = 0; v < count; ++v)
      AddRow(scores.data() + v * reader.num_classes(), reader.num_classes(), &evidence);
    return true;
  });
  return evidence;
}

// Whether all rows are `row`. NaN is equal to nothing.
bool AllRowsEqual(const std::vector<double>& row, const std::vector<double>& scores) {
  for (size_t i = 0; i < scores.size(); ++i) {
    if (!(scores[i] == row[i % row.size()])) return false;
  }
  return true;
}

bool IsConstant(const CaseReader& reader, const Array& array) {
  const std::vector<double> row = ReadScores(reader, array, 0, 1);
  bool constant = true;
  ForEachProbe(reader, array, [&](const std::vector<double>& scores, int64_t) {
    constant = AllRowsEqual(row, scores);
    return constant;
  });
  for (int64_t first = 0; constant && first < reader.num_voxels(); first += kTileVoxels) {
    const int64_t count = std::min<int64_t>(kTileVoxels, reader.num_voxels() - first);
    constant = AllRowsEqual(row, ReadScores(reader, array, first, count));
  }
  return constant;
}

}  // namespace

std::vector<int64_t> FindConstantMembers(const CaseReader& reader) {
  std::vector<int64_t> constant;
  for (int64_t m = 0; m < reader.num_members(); ++m) {
    if (reader.num_voxels() < kLeastVoxels || reader.num_classes() < 2) break;
    const Array* array = reader.member(m);
    if (array != nullptr && IsConstant(reader, *array)) constant.push_back(m);
  }
  return constant;
}

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
