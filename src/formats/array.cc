// SPDX-License-Identifier: Apache-2.0
#include "formats/array.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/throw.h"
#include "formats/bytes.h"
#include "formats/storage.h"
#include "formats/strided.h"

namespace segcal {
namespace {

class BorrowedArray : public Array {
 public:
  BorrowedArray(std::string name,
                ArrayInfo info,
                const void* data,
                const std::vector<int64_t>& strides)
      : Array(std::move(name), std::move(info)),
        data_(static_cast<const std::byte*>(data)),
        elements_{.shape = this->info().shape,
                  .strides = strides.empty() ? RowMajorStrides(this->info().shape) : strides,
                  .element_size = ElementSize(this->info().dtype)} {
    const SingleStride single = CollapseAxes(elements_.shape, elements_.strides, 0);
    is_dense_ = single.exists && single.stride == 1;
    is_aligned_ = reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(size()) == 0;
  }

  void Read(int64_t first, int64_t count, void* out) const override {
    if (count <= 0) return;
    if (is_dense_) {
      std::memcpy(out, data_ + first * size(), static_cast<size_t>(count * size()));
    } else {
      GatherElements(elements_, data_, first, count, static_cast<std::byte*>(out));
    }
  }
  const void* Direct(int64_t first) const noexcept override {
    return is_dense_ && is_aligned_ ? data_ + first * size() : nullptr;
  }
  // Kernels load whole elements.
  MemoryLayout layout() const override {
    if (!is_aligned_) return {};
    return {.data = data_, .strides = elements_.strides};
  }

 private:
  int64_t size() const noexcept { return elements_.element_size; }

  const std::byte* data_;
  StridedElements elements_;
  bool is_dense_ = false;
  bool is_aligned_ = false;
};

bool EndsWith(std::string_view path, std::string_view extension) {
  if (path.size() <= extension.size()) return false;
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  const std::string_view end = path.substr(path.size() - extension.size());
  return std::equal(end.begin(), end.end(), extension.begin(), same);
}

std::string ListExtensions(bool writable_only) {
  std::string list;
  for (const FormatInfo* format : Formats()) {
    if (writable_only && format->create == nullptr) continue;
    for (const std::string& extension : Extensions(*format)) {
      list += list.empty() ? "" : ", ";
      list += extension;
    }
  }
  return list;
}

[[noreturn]] void ThrowUnknown(const std::string& path, int64_t size) {
  if (size == 0) Throw(ErrorCode::kBadData, "{}: the file is empty", path);
  const FormatInfo* expected = FormatByExtension(path);
  if (expected != nullptr) {
    Throw(ErrorCode::kBadData, "{}: the content is not that of a {} file", path, expected->name);
  }
  Throw(ErrorCode::kUnsupported,
        "{}: not a file of a known format ({})",
        path,
        ListExtensions(/*writable_only=*/false));
}

}  // namespace

const FormatInfo* FormatByExtension(const std::string& path) {
  const FormatInfo* best = nullptr;
  size_t best_size = 0;
  for (const FormatInfo* format : Formats()) {
    for (const std::string& extension : Extensions(*format)) {
      if (extension.size() <= best_size || !EndsWith(path, extension)) continue;
      best = format;
      best_size = extension.size();
    }
  }
  return best;
}

std::string WithoutExtension(const std::string& path) {
  size_t longest = 0;
  for (const FormatInfo* format : Formats()) {
    for (const std::string& extension : Extensions(*format)) {
      if (EndsWith(path, extension)) longest = std::max(longest, extension.size());
    }
  }
  return path.substr(0, path.size() - longest);
}

MemoryLayout Array::layout() const {
  const void* data = Direct(0);
  if (data == nullptr) return {};
  return {.data = data, .strides = RowMajorStrides(info_.shape)};
}

int64_t ArrayInfo::NumElements() const noexcept {
  int64_t product = 1;
  for (const int64_t length : shape) product *= length;
  return product;
}

std::vector<std::string> Extensions(const FormatInfo& format) {
  std::vector<std::string> all;
  for (std::string_view rest = format.extensions; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    all.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return all;
}

const FormatInfo& FindWritableFormat(const std::string& name) {
  std::vector<std::string> names;
  for (const FormatInfo* format : Formats()) {
    if (format->create == nullptr) continue;
    if (name == format->name) return *format;
    names.emplace_back(format->name);
  }
  Throw(ErrorCode::kInvalidArgument,
        "unknown output format \"{}\"; there are {}",
        name,
        fmt::join(names, ", "));
}

const FormatInfo& DetectFormat(const std::string& path) {
  std::byte head[16];
  int64_t size = 0;
  {
    const InputFile file(path);
    size = std::min<int64_t>(file.size(), sizeof(head));
    file.ReadAt(0, std::span(head).first(static_cast<size_t>(size)));
  }
  for (const FormatInfo* format : Formats()) {
    if (format->sniff(reinterpret_cast<const unsigned char*>(head), size)) return *format;
  }
  ThrowUnknown(path, size);
}

std::unique_ptr<Array> OpenArray(const std::string& path, const OpenOptions& options) {
  return DetectFormat(path).open(path, options);
}

std::unique_ptr<ArrayWriter> CreateArray(const std::string& path,
                                         const ArrayInfo& info,
                                         const WriteOptions& options) {
  const FormatInfo* format = FormatByExtension(path);
  if (format == nullptr || format->create == nullptr) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: cannot write such a file, the name must end in one of {}",
          path,
          ListExtensions(/*writable_only=*/true));
  }
  return format->create(path, info, options);
}

void SaveArray(const std::string& path,
               const ArrayInfo& info,
               const void* data,
               const WriteOptions& options) {
  const std::unique_ptr<ArrayWriter> writer = CreateArray(path, info, options);
  writer->WriteAt(0, info.NumElements(), data);
  writer->Commit();
}

std::unique_ptr<Array> ArrayOverMemory(std::string name,
                                       ArrayInfo info,
                                       const void* data,
                                       std::vector<int64_t> strides) {
  CheckedNumBytes(name, info);
  return std::make_unique<BorrowedArray>(std::move(name), std::move(info), data, strides);
}

}  // namespace segcal
