// SPDX-License-Identifier: Apache-2.0
#include "train/run/state_file.h"

#include <bit>
#include <cstddef>
#include <span>

#include "core/file.h"
#include "core/json.h"
#include "core/throw.h"

namespace segcal::train {
namespace {

static_assert(std::endian::native == std::endian::little, "the file has little-endian floats");

constexpr std::string_view kMagic = "segcal network state 1\n";
constexpr int64_t kMaxHeader = int64_t{64} << 20;

std::span<std::byte> Bytes(const at::Tensor& vector) {
  return std::as_writable_bytes(
      std::span(vector.data_ptr<float>(), static_cast<size_t>(vector.numel())));
}

// The text up to the next newline, which must come.
std::string ReadLine(const InputFile& file, int64_t* offset) {
  std::string line;
  char c = 0;
  while (*offset < file.size() && std::ssize(line) < kMaxHeader) {
    file.ReadAt((*offset)++, std::as_writable_bytes(std::span(&c, 1)));
    if (c == '\n') return line;
    line += c;
  }
  Throw(ErrorCode::kBadData, "{}: not a network state of segcal-train", file.path());
}

}  // namespace

void SaveState(const std::string& path,
               const Json& header,
               const std::vector<at::Tensor>& vectors) {
  OutputFile file(path);
  const std::string text = std::string(kMagic) + header.dump() + "\n";
  file.Append(std::as_bytes(std::span(text)));
  for (const at::Tensor& vector : vectors) file.Append(Bytes(vector));
  file.Commit();
}

Json LoadState(const std::string& path, const std::vector<at::Tensor>& vectors) {
  const InputFile file(path);
  int64_t offset = 0;
  if (ReadLine(file, &offset) + "\n" != kMagic)
    Throw(ErrorCode::kBadData, "{}: not a network state of segcal-train", path);
  Json header = ParseJson(ReadLine(file, &offset), path);
  int64_t expected = offset;
  for (const at::Tensor& vector : vectors) expected += std::ssize(Bytes(vector));
  if (file.size() != expected) {
    Throw(ErrorCode::kBadData,
          "{}: {} bytes, the network has {}: it is of another network",
          path,
          file.size(),
          expected);
  }
  for (const at::Tensor& vector : vectors) {
    file.ReadAt(offset, Bytes(vector));
    offset += std::ssize(Bytes(vector));
  }
  return header;
}

}  // namespace segcal::train
