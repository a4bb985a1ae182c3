// SPDX-License-Identifier: Apache-2.0
#include "verify/verify_checks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "core/half.h"
#include "core/throw.h"
#include "kernels/emit.h"

namespace segcal {
namespace {

// Distances from one that emitted rows keep to (docs/verify.md).
double SingleTolerance(int64_t num_classes) {
  return static_cast<double>(num_classes + 8) * 0x1p-24;
}
constexpr double kHalfTolerance = 0x1p-9;

// Every half as a float.
const std::vector<float>& HalfValues() {
  static const std::vector<float> values = [] {
    std::vector<float> table(size_t{1} << 16);
    for (size_t bits = 0; bits < table.size(); ++bits)
      table[bits] = FloatFromHalf(static_cast<uint16_t>(bits));
    return table;
  }();
  return values;
}

template <class T>
void GatherRow(const T* values, int64_t v, std::vector<T>* row) {
  for (size_t c = 0; c < row->size(); ++c)
    (*row)[c] = values[static_cast<int64_t>(c) * kTileVoxels + v];
}

std::vector<double> InputRow(const Tile& tile, int64_t v) {
  std::vector<double> row;
  for (int64_t c = 0; c < tile.num_classes; ++c)
    row.push_back(static_cast<double>(tile.logits[c * kTileVoxels + v]) + tile.offset[v]);
  return row;
}

VerifyCheck MakeCheck(const char* name,
                      const std::string& input,
                      const char* output,
                      bool declared,
                      const Tally& tally) {
  VerifyCheck check;
  check.name = name;
  check.input = input;
  check.output = output;
  check.declared = declared;
  tally.WriteTo(&check);
  return check;
}

}  // namespace

// One voxel of one emitted tile.
struct EmittedChecks::Voxel {
  const Tile& tile;
  int64_t v;
  const Origin& origin;
  std::span<const double> scores;
  std::span<const float> probs;

  Tally::Place place() const { return {origin.case_index, tile.first_voxel + v}; }
  CounterExample Example(std::string what) const {
    CounterExample example = origin.describe(v);
    example.what = std::move(what);
    example.input = InputRow(tile, v);
    example.output.assign(probs.begin(), probs.end());
    return example;
  }
};

EmittedChecks::EmittedChecks(const ModelState& model, int64_t max_examples)
    : model_(model),
      single_(max_examples),
      half_(max_examples),
      score_row_(model.classes.size()),
      prob_row_(model.classes.size()) {}

void EmittedChecks::Add(const BoundCalibrator& bound,
                        const Tile& tile,
                        const double* scores,
                        int64_t case_index,
                        const Describe& describe) {
  const Properties properties = model_.calibrator->properties();
  const TileProbs out = emit_.Reserve(tile.num_classes);
  EmitTile(bound, properties, tile, out);
  const Origin origin{.case_index = case_index, .describe = describe};
  AddTile(tile, scores, out.probs, SingleTolerance(tile.num_classes), origin, &single_);

  const int64_t n = tile.num_classes * kTileVoxels;
  auto* halves = reinterpret_cast<uint16_t*>(half_memory_.Reserve(n * int64_t{sizeof(uint16_t)}));
  RoundToHalf(
      out.probs, tile.decision, properties.preserves != Preserves::kNone, tile.num_classes, halves);
  for (int64_t i = 0; i < n; ++i) out.probs[i] = HalfValues()[halves[i]];
  AddTile(tile, scores, out.probs, kHalfTolerance, origin, &half_);
}

void EmittedChecks::AddTile(const Tile& tile,
                            const double* scores,
                            const float* probs,
                            double tolerance,
                            const Origin& origin,
                            Tallies* tallies) {
  for (int64_t v = 0; v < tile.count; ++v) {
    if (tile.Masked(v)) continue;
    GatherRow(scores, v, &score_row_);
    GatherRow(probs, v, &prob_row_);
    const Voxel voxel{
        .tile = tile, .v = v, .origin = origin, .scores = score_row_, .probs = prob_row_};
    AddRow(voxel, tolerance, &tallies->rows);
    AddDecision(voxel, &tallies->decision);
    AddOrder(voxel, &tallies->order);
  }
}

void EmittedChecks::AddRow(const Voxel& voxel, double tolerance, Tally* tally) const {
  const double error = RowError(voxel.probs);
  tally->AddVoxel(error);
  if (error <= tolerance || !tally->AddViolation(voxel.place())) return;
  tally->AddExample(
      voxel.place(),
      voxel.Example(
          fmt::format("the row sums to one but for {:.3g}, {:.3g} is allowed", error, tolerance)));
}

// Who promises the decision promises it for any tie rule; a tie alone is no flip.
void EmittedChecks::AddDecision(const Voxel& voxel, Tally* tally) const {
  const bool promised = model_.calibrator->properties().preserves != Preserves::kNone;
  const auto rival = FindRival(voxel.probs, voxel.tile.decision[voxel.v]);
  tally->AddVoxel(rival ? rival->amount : 0.0);
  if (!rival || !(promised || rival->amount > 0.0) || !tally->AddViolation(voxel.place())) return;
  tally->AddExample(voxel.place(),
                    voxel.Example(fmt::format("the decision is class {}, class {} is emitted {} it",
                                              rival->above,
                                              rival->below,
                                              rival->amount > 0.0 ? "above" : "equal to")));
}

void EmittedChecks::AddOrder(const Voxel& voxel, Tally* tally) const {
  const auto inversion = FindInversion(voxel.scores, voxel.probs);
  tally->AddVoxel(inversion ? inversion->amount : 0.0);
  if (!inversion || !tally->AddViolation(voxel.place())) return;
  tally->AddExample(
      voxel.place(),
      voxel.Example(fmt::format("class {} scores above class {} and is emitted below it",
                                inversion->above,
                                inversion->below)));
}

void EmittedChecks::Merge(const EmittedChecks& other) {
  single_.rows.Merge(other.single_.rows);
  single_.decision.Merge(other.single_.decision);
  single_.order.Merge(other.single_.order);
  half_.rows.Merge(other.half_.rows);
  half_.decision.Merge(other.half_.decision);
  half_.order.Merge(other.half_.order);
}

std::vector<VerifyCheck> EmittedChecks::Finish(const std::string& input) const {
  const Preserves preserves = model_.calibrator->properties().preserves;
  const bool decision = preserves != Preserves::kNone;
  const bool order = preserves == Preserves::kOrder;
  std::vector<VerifyCheck> checks;
  for (const bool half : {false, true}) {
    const Tallies& tallies = half ? half_ : single_;
    const char* output = half ? "float16" : "float32";
    checks.push_back(MakeCheck("rows", input, output, true, tallies.rows));
    checks.push_back(MakeCheck("decision", input, output, decision, tallies.decision));
    checks.push_back(MakeCheck("order", input, output, order, tallies.order));
  }
  return checks;
}

void OffsetCheck::Add(const BoundCalibrator& bound,
                      const Tile& tile,
                      const BoundCalibrator& shifted_bound,
                      const Tile& shifted,
                      int64_t case_index,
                      const Describe& describe) {
  const Properties properties = model_.calibrator->properties();
  const TileProbs out = emit_.Reserve(tile.num_classes);
  const TileProbs shifted_out = shifted_emit_.Reserve(tile.num_classes);
  EmitTile(bound, properties, tile, out);
  EmitTile(shifted_bound, properties, shifted, shifted_out);
  for (int64_t v = 0; v < tile.count; ++v) {
    int64_t changed = -1;
    double change = 0.0;
    for (int64_t c = 0; c < tile.num_classes; ++c) {
      const float q = out.probs[c * kTileVoxels + v];
      const float r = shifted_out.probs[c * kTileVoxels + v];
      if (std::bit_cast<uint32_t>(q) == std::bit_cast<uint32_t>(r)) continue;
      changed = c;
      change = std::max(change, std::fabs(static_cast<double>(r) - static_cast<double>(q)));
    }
    tally_.AddVoxel(change);
    if (changed < 0) continue;
    const Tally::Place place{case_index, tile.first_voxel + v};
    if (!tally_.AddViolation(place)) continue;
    CounterExample example = describe(v);
    example.what = fmt::format("an offset of {} changes class {} from {} to {}",
                               shifted.offset[v] - tile.offset[v],
                               changed,
                               out.probs[changed * kTileVoxels + v],
                               shifted_out.probs[changed * kTileVoxels + v]);
    example.input = InputRow(tile, v);
    for (int64_t c = 0; c < tile.num_classes; ++c)
      example.output.push_back(static_cast<double>(out.probs[c * kTileVoxels + v]));
    tally_.AddExample(place, std::move(example));
  }
}

VerifyCheck OffsetCheck::Finish() const {
  return MakeCheck(
      "translation", "generated", "float32", model_.properties().translation_invariant, tally_);
}

}  // namespace segcal
