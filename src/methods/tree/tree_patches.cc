// SPDX-License-Identifier: Apache-2.0
#include "methods/tree/tree_patches.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "core/random_order.h"
#include "core/ranks.h"
#include "data/case_distance.h"
#include "spatial/regions.h"

namespace segcal {
namespace {

constexpr uint64_t kPatchStream = 0x5041544348;
constexpr uint64_t kCaseStream = 0x43415345;

// Rows of a patch: its columns, the halo and what strips read beyond.
constexpr int64_t kRowStride = kPatchColumns + 2 * kTreeHalo;
constexpr int64_t kChannelStride = kRowStride * (kPatchRows + 2 * kTreeHalo);

// Copies the neighbourhood of rows x columns voxels; what lies beyond is 0.
PaddedPlane CopyPlane(const PaddedPlane& from, int64_t rows, int64_t columns, float* to) {
  std::fill_n(to, from.channels * kChannelStride, 0.0f);
  for (int64_t c = 0; c < from.channels; ++c) {
    for (int64_t y = 0; y < rows + 2 * kTreeHalo; ++y) {
      std::copy_n(from.data + c * from.channel_stride + y * from.row_stride,
                  columns + 2 * kTreeHalo,
                  to + c * kChannelStride + y * kRowStride);
    }
  }
  return {from.channels, to, kRowStride, kChannelStride};
}

// Which of `count` things are taken, as many as asked for.
std::vector<bool> Chosen(int64_t count, int64_t wanted, const Rng& rng) {
  std::vector<bool> chosen(static_cast<size_t>(count), wanted >= count);
  if (wanted >= count) return chosen;
  const std::vector<int64_t> order = RandomOrder(count, rng);
  for (int64_t i = 0; i < wanted; ++i)
    chosen[static_cast<size_t>(order[static_cast<size_t>(i)])] = true;
  return chosen;
}

// How many patches of each case are taken where there is room for so many in all.
std::vector<int64_t> ShareOut(const std::vector<int64_t>& counts, int64_t room, uint64_t seed) {
  const auto num_cases = static_cast<int64_t>(counts.size());
  const int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  if (total <= room) return counts;
  std::vector<int64_t> shares(counts.size(), 1);
  if (room < num_cases) {
    const std::vector<bool> drawn =
        Chosen(num_cases, std::max<int64_t>(1, room), Rng(seed, kCaseStream));
    for (size_t i = 0; i < shares.size(); ++i) shares[i] = drawn[i] ? 1 : 0;
    return shares;
  }
  // One each, and the same share of what more they have.
  const auto left = static_cast<double>(room - num_cases);
  for (size_t i = 0; i < shares.size(); ++i) {
    shares[i] += static_cast<int64_t>(left * static_cast<double>(counts[i] - 1) /
                                      static_cast<double>(total - num_cases));
  }
  return shares;
}

int64_t CountPatches(const PlaneGrid& grid) {
  return grid.planes * ((grid.height + kPatchRows - 1) / kPatchRows) *
         ((grid.width + kPatchColumns - 1) / kPatchColumns);
}

// Where a box's labels do not count, they are taken away.
void KeepRegion(const PlaneGrid& grid,
                const PlaneBox& box,
                const std::vector<int32_t>& squared_distance,
                int64_t background,
                std::vector<int32_t>* labels) {
  for (int64_t y = 0; y < box.rows; ++y) {
    const int64_t row = (box.plane * grid.height + box.y + y) * grid.width + box.x;
    for (int64_t x = 0; x < box.columns; ++x) {
      int32_t& label = (*labels)[static_cast<size_t>(y * box.columns + x)];
      if (!InAllRegion(label, squared_distance[static_cast<size_t>(row + x)], background))
        label = kNoLabel;
    }
  }
}

class CaseGatherer {
 public:
  CaseGatherer(const CaseReader& reader,
               const TreeInput& input,
               const PatchOptions& options,
               int64_t background)
      : reader_(reader),
        grid_(MakePlaneGrid(reader.shape())),
        boxes_(input.pooling, input.scores),
        background_(background),
        image_(OpenImage(reader, input)) {
    if (options.all_region)
      squared_distance_ = SquaredCaseDistances(reader, /*with_lengths=*/false).voxels;
  }

  // Patches are numbered by their place in the planes, however the boxes are cut.
  std::vector<TreePatch> Gather(const std::vector<bool>& chosen, int64_t box_bytes) {
    const int64_t per_row = (grid_.width + kPatchColumns - 1) / kPatchColumns;
    const int64_t per_column = (grid_.height + kPatchRows - 1) / kPatchRows;
    std::vector<TreePatch> patches;
    for (const PlaneBox& box : CutIntoBoxes(grid_, reader_.num_classes(), box_bytes)) {
      const int64_t row = box.plane * per_column + box.y / kPatchRows;
      const int64_t first = row * per_row + box.x / kPatchColumns;
      bool read = false;
      for (int64_t x = 0; x < box.columns; x += kPatchColumns) {
        if (!chosen[static_cast<size_t>(first + x / kPatchColumns)]) continue;
        if (!read) ReadBox(box);
        read = true;
        AddPatch(box, x, &patches);
      }
    }
    return patches;
  }

 private:
  void ReadBox(const PlaneBox& box) {
    boxes_.Read(reader_, box);
    if (image_) image_->CopyBox(box, &image_box_);
    labels_ = boxes_.labels();
    if (!squared_distance_.empty())
      KeepRegion(grid_, box, squared_distance_, background_, &labels_);
  }

  void AddPatch(const PlaneBox& box, int64_t x, std::vector<TreePatch>* patches) const {
    const PaddedPlane scores = boxes_.scores().plane().From(0, x);
    if (!image_) {
      patches->emplace_back(box, x, scores, nullptr, labels_);
      return;
    }
    const PaddedPlane image = image_box_.plane().From(0, x);
    patches->emplace_back(box, x, scores, &image, labels_);
  }

  const CaseReader& reader_;
  const PlaneGrid grid_;
  BoxReader boxes_;
  const int64_t background_;
  const std::optional<CaseImage> image_;
  PaddedBox image_box_;
  std::vector<int32_t> squared_distance_;  // empty: all labels count
  std::vector<int32_t> labels_;
};

}  // namespace

TreePatch::TreePatch(const PlaneBox& box,
                     int64_t x,
                     const PaddedPlane& scores,
                     const PaddedPlane* image,
                     const std::vector<int32_t>& labels)
    : rows_(box.rows),
      columns_(std::min(kPatchColumns, box.columns - x)),
      labels_(static_cast<size_t>(kPatchRows * kPatchColumns), kNoLabel) {
  float* to = Reserve(scores.channels, image != nullptr ? image->channels : 0);
  scores_ = CopyPlane(scores, rows_, columns_, to);
  if (image != nullptr)
    image_ = CopyPlane(*image, rows_, columns_, to + scores.channels * kChannelStride);
  for (int64_t y = 0; y < rows_; ++y) {
    const auto row = labels.begin() + y * box.columns + x;
    std::copy_n(row, columns_, labels_.begin() + y * kPatchColumns);
    labelled_ += columns_ - std::count(row, row + columns_, kNoLabel);
  }
}

float* TreePatch::Reserve(int64_t score_channels, int64_t image_channels) {
  const int64_t floats = (score_channels + image_channels) * kChannelStride;
  auto* to = reinterpret_cast<float*>(memory_.Reserve(floats * int64_t{sizeof(float)}));
  scores_ = {score_channels, to, kRowStride, kChannelStride};
  image_ = {image_channels, to + score_channels * kChannelStride, kRowStride, kChannelStride};
  return to;
}

TreeStrip TreePatch::Strip(int64_t y) const noexcept {
  return {.scores = scores_.From(y, 0),
          .image = image_.channels > 0 ? image_.From(y, 0) : PaddedPlane{},
          .rows = std::min(kStripRows, rows_ - y)};
}

int64_t TreePatch::Bytes(int64_t channels) {
  return channels * kChannelStride * static_cast<int64_t>(sizeof(float)) +
         kPatchRows * kPatchColumns * static_cast<int64_t>(sizeof(int32_t));
}

void TreePatch::Pack(SumWriter* out) const {
  for (const int64_t number : {rows_, columns_, labelled_, scores_.channels, image_.channels})
    out->Put(number);
  out->PutRow(scores_.data, (scores_.channels + image_.channels) * kChannelStride);
  out->PutRow(labels_.data(), std::ssize(labels_));
}

void TreePatch::Unpack(SumReader* in) {
  for (int64_t* number : {&rows_, &columns_, &labelled_, &scores_.channels, &image_.channels})
    *number = in->Take<int64_t>();
  in->TakeRow(Reserve(scores_.channels, image_.channels),
              (scores_.channels + image_.channels) * kChannelStride);
  labels_.resize(static_cast<size_t>(kPatchRows * kPatchColumns));
  in->TakeRow(labels_.data(), std::ssize(labels_));
}

namespace {

// Of one case, as ranks exchange them.
struct PatchesOfCase {
  std::vector<TreePatch> patches;

  void Pack(SumWriter* out) const {
    out->Put(std::ssize(patches));
    for (const TreePatch& patch : patches) patch.Pack(out);
  }
  void Unpack(SumReader* in) {
    patches.resize(static_cast<size_t>(in->TakeCount()));
    for (TreePatch& patch : patches) patch.Unpack(in);
  }
};

}  // namespace

std::vector<std::vector<TreePatch>> GatherPatches(const CaseStream& stream,
                                                  const TreeInput& input,
                                                  const PatchOptions& options) {
  const int64_t num_cases = stream.num_cases();
  const auto is_own = [&](int64_t i) { return stream.IsOwn(i); };
  const auto counts = MakeAndShare<int64_t>(
      "count patches", num_cases, stream.num_workers(), is_own, [&](int64_t i) {
        return CountPatches(MakePlaneGrid(stream.Open(i)->shape()));
      });
  const int64_t channels = stream.dataset().num_classes() + input.image_channels;
  const std::vector<int64_t> shares =
      ShareOut(counts, options.max_bytes / TreePatch::Bytes(channels), options.seed);
  const int64_t box_bytes = BoxBytes(MakeBindOptions(stream));
  auto gathered = MakeAndShare<PatchesOfCase>(
      "gather patches", num_cases, stream.num_workers(), is_own, [&](int64_t i) {
        const auto at = static_cast<size_t>(i);
        if (shares[at] == 0) return PatchesOfCase();
        const std::shared_ptr<const CaseReader> reader = stream.Open(i);
        const Rng rng(options.seed ^ kPatchStream, static_cast<uint64_t>(i));
        CaseGatherer gatherer(*reader, input, options, stream.dataset().background.value_or(-1));
        return PatchesOfCase{gatherer.Gather(Chosen(counts[at], shares[at], rng), box_bytes)};
      });
  std::vector<std::vector<TreePatch>> patches;
  for (PatchesOfCase& of_case : gathered) patches.push_back(std::move(of_case.patches));
  return patches;
}

}  // namespace segcal
