// SPDX-License-Identifier: Apache-2.0
#include "formats/composed.h"

#include <algorithm>
#include <utility>

#include "core/throw.h"

namespace segcal {
namespace {

ArrayInfo ItemInfo(const Array& batch, int64_t item) {
  ArrayInfo info = batch.info();
  if (info.shape.size() < 2 || item < 0 || item >= info.shape.front()) {
    Throw(ErrorCode::kBadData,
          "{}: no item {} in shape ({}); its first axis must count the items of a batch",
          batch.name(),
          item,
          fmt::join(info.shape, ", "));
  }
  info.shape.erase(info.shape.begin());
  info.spacing.clear();
  return info;
}

class ItemArray : public Array {
 public:
  ItemArray(std::unique_ptr<Array> batch, int64_t item)
      : Array(fmt::format("{}[{}]", batch->name(), item), ItemInfo(*batch, item)),
        batch_(std::move(batch)),
        item_(item),
        begin_(item * info().NumElements()) {}

  void Read(int64_t first, int64_t count, void* out) const override {
    batch_->Read(begin_ + first, count, out);
  }
  const void* Direct(int64_t first) const noexcept override {
    return batch_->Direct(begin_ + first);
  }
  MemoryLayout layout() const override {
    MemoryLayout layout = batch_->layout();
    if (layout.data == nullptr) return {};
    const int64_t bytes = item_ * layout.strides.front() * ElementSize(info().dtype);
    layout.data = static_cast<const std::byte*>(layout.data) + bytes;
    layout.strides.erase(layout.strides.begin());
    return layout;
  }
  int64_t resident_bytes() const noexcept override { return batch_->resident_bytes(); }

 private:
  std::unique_ptr<Array> batch_;
  int64_t item_;
  int64_t begin_;
};

ArrayInfo StackedInfo(const std::vector<std::unique_ptr<Array>>& parts) {
  const Array& first = *parts.front();
  for (const auto& part : parts) CheckAlike(first, part->name(), part->info());
  ArrayInfo info = first.info();
  info.shape.insert(info.shape.begin(), static_cast<int64_t>(parts.size()));
  return info;
}

class StackedArray : public Array {
 public:
  explicit StackedArray(std::vector<std::unique_ptr<Array>> parts)
      : Array(parts.front()->name(), StackedInfo(parts)),
        parts_(std::move(parts)),
        part_elements_(parts_.front()->info().NumElements()) {}

  void Read(int64_t first, int64_t count, void* out) const override {
    auto* to = static_cast<std::byte*>(out);
    while (count > 0) {
      const int64_t begin = first % part_elements_;
      const int64_t here = std::min(count, part_elements_ - begin);
      parts_[static_cast<size_t>(first / part_elements_)]->Read(begin, here, to);
      to += here * ElementSize(info().dtype);
      first += here;
      count -= here;
    }
  }
  const void* Direct(int64_t) const noexcept override { return nullptr; }
  int64_t resident_bytes() const noexcept override {
    int64_t bytes = 0;
    for (const auto& part : parts_) bytes += part->resident_bytes();
    return bytes;
  }

 private:
  std::vector<std::unique_ptr<Array>> parts_;
  int64_t part_elements_;
};

}  // namespace

void CheckAlike(const Array& first, const std::string& name, const ArrayInfo& info) {
  if (info.shape == first.info().shape && info.dtype == first.info().dtype) return;
  Throw(ErrorCode::kBadData,
        "{}: {} of shape ({}), {} has {} of shape ({}); files of classes must be alike",
        name,
        Name(info.dtype),
        fmt::join(info.shape, ", "),
        first.name(),
        Name(first.info().dtype),
        fmt::join(first.info().shape, ", "));
}

std::unique_ptr<Array> ItemOf(std::unique_ptr<Array> batch, int64_t item) {
  return std::make_unique<ItemArray>(std::move(batch), item);
}

std::unique_ptr<Array> Stacked(std::vector<std::unique_ptr<Array>> parts) {
  return std::make_unique<StackedArray>(std::move(parts));
}

}  // namespace segcal
