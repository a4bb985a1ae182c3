// SPDX-License-Identifier: Apache-2.0
#include "data/voxel_block.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/throw.h"
#include "data/case_labels.h"
#include "kernels/pool_paths.h"

namespace segcal {
namespace {

const char* Explain(PoolFault fault) {
  switch (fault) {
    case PoolFault::kNone:
      break;
    case PoolFault::kNotANumber:
      return "NaN or +inf; values must be finite, or -inf for an impossible class";
    case PoolFault::kNoPossibleClass:
      return "every class is impossible (-inf or probability 0); at least one must be possible";
    case PoolFault::kNegativeProb:
      return "a negative value; the data set says \"probabilities\" (are these logits?)";
    case PoolFault::kPositiveLogProb:
      return "a value above 0; the data set says \"log_probabilities\" (are these logits?)";
    case PoolFault::kSumNotOne:
      return "the classes do not sum to one; the data set says \"probabilities\" (sigmoid or "
             "region "
             "channels are independent yes/no problems, not supported: give softmax outputs)";
  }
  return "";
}

// What every class has where nothing is known.
double EqualScore(InputKind input, int64_t num_classes) {
  const double share = 1.0 / static_cast<double>(num_classes);
  return input == InputKind::kLogits     ? 0.0
         : input == InputKind::kLogProbs ? std::log(share)
                                         : share;
}

// `masked` (null: none) with these lanes too, in `out` [kTileVoxels].
const uint8_t* MarkMasked(const uint8_t* masked,
                          int64_t count,
                          const std::vector<int64_t>& lanes,
                          uint8_t* out) {
  std::fill_n(out, kTileVoxels, uint8_t{0});
  if (masked != nullptr) std::copy_n(masked, count, out);
  for (const int64_t v : lanes) out[v] = 1;
  return out;
}

const std::byte* Bytes(const void* p) { return static_cast<const std::byte*>(p); }

}  // namespace

void TileBuffer::Reserve(int64_t num_classes) {
  if (num_classes == num_classes_) return;
  num_classes_ = num_classes;
  const int64_t logits = num_classes * kTileVoxels * int64_t{sizeof(float)};
  const int64_t offset = kTileVoxels * int64_t{sizeof(double)};
  const int64_t decision = kTileVoxels * int64_t{sizeof(uint16_t)};
  const int64_t labels = kTileVoxels * int64_t{sizeof(int32_t)};
  // Every part is a multiple of 64 bytes because kTileVoxels is.
  std::byte* p = memory_.Reserve(logits + offset + decision + labels + kTileVoxels +
                                 PoolScratchBytes(num_classes));
  logits_ = reinterpret_cast<float*>(p);
  offset_ = reinterpret_cast<double*>(p += logits);
  decision_ = reinterpret_cast<uint16_t*>(p += offset);
  labels_ = reinterpret_cast<int32_t*>(p += decision);
  masked_ = reinterpret_cast<uint8_t*>(p += labels);
  scratch_ = p + kTileVoxels;
}

void VoxelBlock::Read(const CaseReader& reader, int64_t first, int64_t count) {
  SEGCAL_DCHECK(first % kTileVoxels == 0 && count > 0 && first + count <= reader.num_voxels());
  reader_ = &reader;
  first_ = first;
  count_ = count;
  rows_.assign(static_cast<size_t>(reader.num_members()), MemberRows{});
  storage_.resize(rows_.size());
  for (int64_t m = 0; m < reader.num_members(); ++m) {
    if (reader.member(m) != nullptr) ReadMember(m);
  }
  ReadLabels();
}

void VoxelBlock::ReadMember(int64_t member) {
  const Array& array = *reader_->member(member);
  const int64_t num_classes = reader_->num_classes();
  const int64_t voxels = reader_->num_voxels();
  MemberRows& rows = rows_[static_cast<size_t>(member)];
  rows.dtype = array.info().dtype;
  const int64_t size = ElementSize(rows.dtype);
  if (const MemberRows& direct = reader_->direct_rows(member); direct.data != nullptr) {
    rows = direct;
    rows.data = Bytes(direct.data) + first_ * direct.voxel_stride * size;
    return;
  }
  std::byte* bytes =
      storage_[static_cast<size_t>(member)].Reserve(num_classes * kBlockVoxels * size);
  rows.data = bytes;
  if (reader_->channels_last()) {
    array.Read(first_ * num_classes, count_ * num_classes, bytes);
    rows.class_stride = 1;
    rows.voxel_stride = num_classes;
    return;
  }
  for (int64_t c = 0; c < num_classes; ++c)
    array.Read(c * voxels + first_, count_, bytes + c * kBlockVoxels * size);
  rows.class_stride = kBlockVoxels;
  rows.voxel_stride = 1;
}

void VoxelBlock::ReadLabels() {
  labels_.resize(static_cast<size_t>(count_));
  ReadCaseLabels(*reader_, first_, labels_, &masked_);
}

// Rows of the members that `pooling` takes, moved to voxel `begin` of the block.
void VoxelBlock::PointRowsAt(int64_t begin, const Pooling& pooling) {
  tile_rows_.clear();
  for (int64_t m = 0; m < reader_->num_members(); ++m) {
    if (pooling.member >= 0 && pooling.member != m) continue;
    if (pooling.leading >= 0 && pooling.leading <= m) break;
    MemberRows row = rows_[static_cast<size_t>(m)];
    SEGCAL_DCHECK(row.data != nullptr);
    row.data = Bytes(row.data) + begin * row.voxel_stride * ElementSize(row.dtype);
    tile_rows_.push_back(row);
  }
}

// Where the rows of the tile after the one at `begin` lie, of the first member at least. Not past
// the block, because who reads the next one is not known; not for channels last, which are no rows.
TileAhead VoxelBlock::NextTile(int64_t begin) const {
  const MemberRows& rows = tile_rows_.front();
  if (begin + kTileVoxels >= count_ || rows.voxel_stride != 1) return {};
  const int64_t size = ElementSize(rows.dtype);
  return {.data = Bytes(rows.data) + kTileVoxels * size,
          .class_bytes = rows.class_stride * size,
          .voxel_bytes = size};
}

Tile VoxelBlock::PoolTileInto(int64_t index,
                              const Pooling& pooling,
                              TileBuffer* buffer,
                              Excused excused) {
  const int64_t begin = index * kTileVoxels;
  const int64_t count = std::min(kTileVoxels, count_ - begin);
  buffer->Reserve(reader_->num_classes());
  PointRowsAt(begin, pooling);
  const TileAhead ahead = NextTile(begin);
  const PoolOptions options{
      .input = reader_->input(), .rule = pooling.rule, .floor = reader_->floor()};
  const PoolOutput out = buffer->output();
  const auto pool = [&] {
    return PoolTile(tile_rows_, reader_->num_classes(), count, options, buffer->scratch(), out);
  };
  const uint8_t* masked = masked_.empty() ? nullptr : masked_.data() + begin;
  PoolStatus status = pool();
  if (status.fault != PoolFault::kNone) {
    const std::vector<int64_t> without = FindExcused(begin, count, options, excused);
    if (without.empty()) ThrowFault(status, first_ + begin, pooling);
    StageRows(count, options.input, without);
    status = pool();
    if (status.fault != PoolFault::kNone) ThrowFault(status, first_ + begin, pooling);
    masked = MarkMasked(masked, count, without, buffer->masked());
  }
  renormalised_ += status.renormalised;

  int32_t* labels = buffer->labels();
  std::copy_n(labels_.begin() + begin, count, labels);
  std::fill(labels + count, labels + kTileVoxels, kNoLabel);
  return {.num_classes = reader_->num_classes(),
          .count = count,
          .first_voxel = first_ + begin,
          .logits = out.logits,
          .offset = out.offset,
          .decision = out.decision,
          .labels = labels,
          .masked = masked,
          .ahead = ahead};
}

// Lanes of the tile at `begin` whose prediction is no distribution, and need be none.
std::vector<int64_t> VoxelBlock::FindExcused(int64_t begin,
                                             int64_t count,
                                             const PoolOptions& options,
                                             Excused excused) const {
  std::vector<int64_t> lanes;
  const bool unlabelled = excused == Excused::kUnlabelled && reader_->has_labels();
  for (int64_t v = 0; v < count; ++v) {
    const auto voxel = static_cast<size_t>(begin + v);
    const bool may =
        (!masked_.empty() && masked_[voxel] != 0) || (unlabelled && labels_[voxel] == kNoLabel);
    if (may && FindPoolFault(tile_rows_, reader_->num_classes(), v, 1, options).fault !=
                   PoolFault::kNone) {
      lanes.push_back(v);
    }
  }
  return lanes;
}

// Rows in memory of our own, with equal classes where a voxel is excused.
void VoxelBlock::StageRows(int64_t count, InputKind input, const std::vector<int64_t>& excused) {
  const int64_t num_classes = reader_->num_classes();
  staged_.resize(tile_rows_.size() * static_cast<size_t>(num_classes * kTileVoxels));
  double* to = staged_.data();
  for (MemberRows& rows : tile_rows_) {
    double* first = to;
    for (int64_t c = 0; c < num_classes; ++c, to += kTileVoxels) {
      for (int64_t v = 0; v < count; ++v) to[v] = MemberValue(rows, c, v);
      for (const int64_t v : excused) to[v] = EqualScore(input, num_classes);
    }
    rows = {.data = first, .dtype = DType::kF64, .class_stride = kTileVoxels, .voxel_stride = 1};
  }
}

void VoxelBlock::ThrowFault(const PoolStatus& status,
                            int64_t tile_first,
                            const Pooling& pooling) const {
  const int64_t member = pooling.member >= 0 ? pooling.member : status.member;
  Throw(ErrorCode::kBadData,
        "{}: {}: {}",
        reader_->member(member)->name(),
        reader_->DescribeVoxel(tile_first + status.voxel),
        Explain(status.fault));
}

}  // namespace segcal
