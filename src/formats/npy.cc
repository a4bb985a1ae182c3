// SPDX-License-Identifier: Apache-2.0
#include "formats/npy.h"

#include <algorithm>
#include <utility>

#include "core/throw.h"
#include "formats/storage.h"

namespace segcal {
namespace {

// Both orders are the same bytes where at most one axis has more than one element.
bool NeedsTransposition(const NpyHeader& header) {
  const std::vector<int64_t>& shape = header.info.shape;
  const auto is_long = [](int64_t length) { return length > 1; };
  return header.fortran && header.data_bytes > 0 &&
         std::count_if(shape.begin(), shape.end(), is_long) > 1;
}

// The array as its bytes lie, in C order: with reversed axes where the file has Fortran order.
ArrayInfo StoredInfo(const NpyHeader& header) {
  ArrayInfo info = header.info;
  if (NeedsTransposition(header)) std::reverse(info.shape.begin(), info.shape.end());
  return info;
}

void CheckSize(const std::string& name, const NpyHeader& header, int64_t size) {
  const int64_t found = size - header.header_bytes;
  if (found == header.data_bytes) return;
  Throw(ErrorCode::kBadData,
        "{}: {}: {} bytes of elements found, shape ({}) of {} requires {}",
        name,
        found < header.data_bytes ? "truncated" : "data after the last element",
        found,
        fmt::join(header.info.shape.begin(), header.info.shape.end(), ", "),
        Name(header.info.dtype),
        header.data_bytes);
}

std::unique_ptr<Array> OpenNpy(const std::string& path, const OpenOptions& options) {
  InputFile file(path);
  const int64_t size = file.size();
  return OpenNpyInPlace(path, std::move(file), 0, size, options);
}

std::unique_ptr<ArrayWriter> CreateNpy(const std::string& path,
                                       const ArrayInfo& info,
                                       const WriteOptions&) {
  return MakeDirectWriter(path, info, EncodeNpyHeader(path, info), {});
}

bool SniffNpy(const unsigned char* head, int64_t size) noexcept {
  constexpr unsigned char kMagic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  return size >= 6 && std::equal(kMagic, kMagic + 6, head);
}

}  // namespace

NpyHeader ReadCheckedHeader(ByteStream* stream,
                            const std::string& name,
                            int64_t size,
                            const OpenOptions& options) {
  const NpyHeader header = ReadNpyHeader(stream, name);
  CheckSize(name, header, size);
  CheckPromise(options, name, header.info);
  return header;
}

std::unique_ptr<Array> OpenNpyInPlace(const std::string& name,
                                      InputFile file,
                                      int64_t offset,
                                      int64_t size,
                                      const OpenOptions& options) {
  FileStream stream(file, offset, size);
  const NpyHeader header = ReadCheckedHeader(&stream, name, size, options);
  std::unique_ptr<Array> array = MakeFileArray(
      name, StoredInfo(header), std::move(file), offset + header.header_bytes, header.swap);
  return NeedsTransposition(header) ? Transposed(std::move(array), options) : std::move(array);
}

std::unique_ptr<Array> OpenNpyStream(const std::string& name,
                                     ByteStream* stream,
                                     int64_t size,
                                     const OpenOptions& options) {
  const NpyHeader header = ReadCheckedHeader(stream, name, size, options);
  Spool spool(name, options);
  Fill(&spool, stream, name, header.data_bytes);
  RequireEnd(stream, name);
  std::unique_ptr<Array> array = spool.TakeArray(StoredInfo(header), header.swap);
  return NeedsTransposition(header) ? Transposed(std::move(array), options) : std::move(array);
}

std::unique_ptr<Array> OpenNpyInMemory(const std::string& name,
                                       AlignedBuffer image,
                                       int64_t size,
                                       const OpenOptions& options) {
  MemoryStream stream({image.Get(), static_cast<size_t>(size)});
  const NpyHeader header = ReadCheckedHeader(&stream, name, size, options);
  std::unique_ptr<Array> array = MakeDecodedArray(
      name, StoredInfo(header), std::move(image), header.header_bytes, header.swap, options);
  return NeedsTransposition(header) ? Transposed(std::move(array), options) : std::move(array);
}

extern constinit const FormatInfo kNpy{
    .name = "npy",
    .summary = "NumPy array: floats, integers, bool; both byte and axis orders; versions 1 to 3.",
    .extensions = ".npy",
    .sniff = &SniffNpy,
    .open = &OpenNpy,
    .create = &CreateNpy,
    .writes_floats = true,
    .writes_float16 = true,
    .writes_volumes = true};

}  // namespace segcal
