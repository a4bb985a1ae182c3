// SPDX-License-Identifier: Apache-2.0
#include "verify/verify_inputs.h"

#include <algorithm>
#include <cmath>

#include "formats/array.h"

namespace segcal {
namespace {

using Row = std::vector<float>;

// Streams of random numbers that must not share any.
enum Stream : uint64_t { kMixedStream, kGridStream, kOffsetStream, kNumStreams };

// A 2-D case of one block, so that methods that look at neighbours have some.
constexpr int64_t kWidth = 128;
constexpr int64_t kHeight = kBlockVoxels / kWidth;
static_assert(kWidth * kHeight == kBlockVoxels);

Rng MakeRng(uint64_t seed, Stream stream, int64_t index) {
  return Rng(seed, static_cast<uint64_t>(index) * kNumStreams + stream);
}

// The float32 number `steps` above x (below, if negative).
float Nudged(float x, int64_t steps) {
  const float towards = steps > 0 ? INFINITY : -INFINITY;
  for (int64_t i = 0; i < std::abs(steps); ++i) x = std::nextafter(x, towards);
  return x;
}

Row RandomRow(size_t num_classes, Rng* rng) {
  constexpr double kScales[] = {0.5, 2.0, 8.0, 40.0};
  const double scale = kScales[rng->Below(4)];
  const double offset = 10.0 * rng->Normal();
  Row row(num_classes);
  for (float& z : row) z = static_cast<float>(scale * rng->Normal() + offset);
  return row;
}

// Classes join the largest with probability one half, a few steps off.
Row NearTies(size_t num_classes, Rng* rng) {
  Row row = RandomRow(num_classes, rng);
  const float largest = *std::max_element(row.begin(), row.end());
  for (float& z : row) {
    if (rng->Below(2) == 0) z = Nudged(largest, rng->Below(5) - 2);
  }
  return row;
}

Row Ties(size_t num_classes, Rng* rng) {
  Row row(num_classes);
  for (float& z : row) z = static_cast<float>(rng->Below(4) - 2);
  return row;
}

// Neighbours near 1/8 below a winner above 1: z - max has fewer digits left than z.
Row Merged(size_t num_classes, Rng* rng) {
  Row row(num_classes);
  for (float& z : row) z = Nudged(0.125f, rng->Below(9) - 4);
  row[static_cast<size_t>(rng->Below(static_cast<int64_t>(num_classes)))] =
      static_cast<float>(std::exp2(6.0 * rng->Uniform()));
  return row;
}

Row Extremes(size_t num_classes, Rng* rng) {
  constexpr float kValues[] = {-INFINITY,
                               -3e38f,
                               -1e30f,
                               -104.0f,
                               -87.5f,
                               -87.0f,
                               -1e-3f,
                               -1e-40f,
                               0.0f,
                               1e-40f,
                               1e-3f,
                               1.0f,
                               87.0f,
                               88.0f,
                               1e30f,
                               3e38f};
  Row row(num_classes);
  for (float& z : row) z = kValues[rng->Below(std::size(kValues))];
  // A voxel where nothing is possible is no legal input.
  if (std::all_of(row.begin(), row.end(), [](float z) { return std::isinf(z); })) row[0] = 0.0f;
  return row;
}

Row DrawRow(RowKind kind, size_t num_classes, Rng* rng) {
  switch (kind) {
    case RowKind::kNearTies:
      return NearTies(num_classes, rng);
    case RowKind::kTies:
      return Ties(num_classes, rng);
    case RowKind::kMerged:
      return Merged(num_classes, rng);
    case RowKind::kExtremes:
      return Extremes(num_classes, rng);
    case RowKind::kRandom:
    case RowKind::kGrid:
      break;
  }
  return RandomRow(num_classes, rng);
}

// The row of another member that nearly agrees: one class a step apart, so that the mean of the two
// lies between float32 numbers.
Row Companion(const Row& row, Rng* rng) {
  Row other = row;
  float& z = other[static_cast<size_t>(rng->Below(static_cast<int64_t>(row.size())))];
  if (std::isfinite(z)) z = Nudged(z, rng->Below(3) - 1);
  return other;
}

// The same prediction as another kind of input. The maximum goes first: beside 3e38 the logarithm
// of the sum would be lost.
void Convert(InputKind input, Row* row) {
  if (input == InputKind::kLogits) return;
  const auto largest = static_cast<double>(*std::max_element(row->begin(), row->end()));
  double sum = 0.0;
  for (const float z : *row) sum += std::exp(static_cast<double>(z) - largest);
  for (float& z : *row) {
    const double log_prob = static_cast<double>(z) - largest - std::log(sum);
    z = static_cast<float>(input == InputKind::kProbs ? std::exp(log_prob) : log_prob);
  }
}

}  // namespace

const char* Name(RowKind kind) noexcept {
  switch (kind) {
    case RowKind::kRandom:
      return "random";
    case RowKind::kNearTies:
      return "near ties";
    case RowKind::kTies:
      return "ties";
    case RowKind::kMerged:
      return "merged";
    case RowKind::kExtremes:
      return "extremes";
    case RowKind::kGrid:
      return "grid";
  }
  return "?";
}

std::vector<Row> InputGenerator::DrawMixed(RowKind kind, Rng* rng) const {
  const InputKind input = form_.input;
  std::vector<Row> rows = {DrawRow(kind, form_.classes.size(), rng)};
  Convert(input, &rows[0]);
  while (rows.size() < num_members()) rows.push_back(Companion(rows[0], rng));
  // A step above 1 or below 0 is no legal probability.
  if (input == InputKind::kProbs) {
    for (Row& row : rows) {
      for (float& p : row) p = std::clamp(p, 0.0f, 1.0f);
    }
  }
  return rows;
}

GeneratedCase InputGenerator::Mixed(int64_t index) const {
  Rng rng = MakeRng(seed_, kMixedStream, index);
  const size_t num_classes = form_.classes.size();
  GeneratedCase made;
  made.index = index;
  made.members.assign(num_members(), Row(num_classes * static_cast<size_t>(kBlockVoxels)));
  for (size_t v = 0; v < static_cast<size_t>(kBlockVoxels); ++v) {
    const auto kind = static_cast<RowKind>(rng.Below(static_cast<int64_t>(RowKind::kGrid)));
    const std::vector<Row> rows = DrawMixed(kind, &rng);
    for (size_t m = 0; m < rows.size(); ++m) {
      for (size_t c = 0; c < num_classes; ++c)
        made.members[m][c * static_cast<size_t>(kBlockVoxels) + v] = rows[m][c];
    }
    made.kinds.push_back(kind);
  }
  return made;
}

GeneratedCase InputGenerator::OnGrid(int64_t index) const {
  Rng rng = MakeRng(seed_, kGridStream, index);
  GeneratedCase made;
  made.index = index;
  made.kinds.assign(static_cast<size_t>(kBlockVoxels), RowKind::kGrid);
  for (size_t m = 0; m < num_members(); ++m) {
    Row& values =
        made.members.emplace_back(form_.classes.size() * static_cast<size_t>(kBlockVoxels));
    for (float& z : values) {
      const double drawn = std::clamp(8.0 * rng.Normal(), -64.0, 64.0);
      z = static_cast<float>(std::nearbyint(drawn * 0x1p8) * 0x1p-8);
    }
  }
  return made;
}

GeneratedCase InputGenerator::WithOffsets(const GeneratedCase& on_grid) const {
  constexpr int64_t kLargest = 1 << 14;
  Rng rng = MakeRng(seed_, kOffsetStream, on_grid.index);
  GeneratedCase shifted = on_grid;
  for (Row& member : shifted.members) {
    for (size_t v = 0; v < static_cast<size_t>(kBlockVoxels); ++v) {
      const auto offset = static_cast<float>(rng.Below(2 * kLargest + 1) - kLargest);
      for (size_t c = 0; c < form_.classes.size(); ++c)
        member[c * static_cast<size_t>(kBlockVoxels) + v] += offset;
    }
  }
  return shifted;
}

std::unique_ptr<CaseReader> InputGenerator::Open(const GeneratedCase& generated) const {
  Dataset dataset;
  dataset.classes = form_.classes;
  dataset.input = form_.input;
  Case entry;
  entry.id = "generated";
  const ArrayInfo info{
      .dtype = DType::kF32, .shape = {form_.num_classes(), kHeight, kWidth}, .spacing = {}};
  // A pooling that names a member finds it at its place; the ones before it are not there.
  const auto first = static_cast<size_t>(std::max<int64_t>(form_.pooling.member, 0));
  std::vector<std::shared_ptr<const Array>> members(first + generated.members.size());
  for (size_t m = 0; m < generated.members.size(); ++m)
    members[first + m] = ArrayOverMemory("generated", info, generated.members[m].data());
  return std::make_unique<CaseReader>(dataset, entry, std::move(members), nullptr, nullptr);
}

}  // namespace segcal
