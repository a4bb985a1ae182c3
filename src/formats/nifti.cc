// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "core/throw.h"
#include "formats/deflate_blocks.h"
#include "formats/inflate_whole.h"
#include "formats/nifti_header.h"
#include "formats/storage.h"

namespace segcal {
namespace {

// Elements in 32 and 64 bits, and float64, keep their precision only in float64.
DType ScaledType(DType stored) {
  return stored == DType::kF32 || ElementSize(stored) <= 2 ? DType::kF32 : DType::kF64;
}

ArrayInfo ScaledInfo(ArrayInfo info) {
  info.dtype = ScaledType(info.dtype);
  return info;
}

// Values slope * stored + inter of another array, computed in double while reading.
class ScaledArray : public Array {
 public:
  ScaledArray(std::unique_ptr<Array> stored, double slope, double inter)
      : Array(stored->name(), ScaledInfo(stored->info())),
        stored_(std::move(stored)),
        slope_(slope),
        inter_(inter) {}

  void Read(int64_t first, int64_t count, void* out) const override {
    if (info().dtype == DType::kF32) return ReadAs(first, count, static_cast<float*>(out));
    ReadAs(first, count, static_cast<double*>(out));
  }
  const void* Direct(int64_t) const noexcept override { return nullptr; }

 private:
  static constexpr int64_t kChunk = 2048;

  template <class Out>
  void ReadAs(int64_t first, int64_t count, Out* out) const {
    for (int64_t done = 0; done < count; done += kChunk) {
      ScaleChunk(first + done, std::min(kChunk, count - done), out + done);
    }
  }

  template <class Out>
  void ScaleChunk(int64_t first, int64_t count, Out* out) const {
    switch (stored_->info().dtype) {
      case DType::kU8:
        return Scale<uint8_t>(first, count, out);
      case DType::kI8:
        return Scale<int8_t>(first, count, out);
      case DType::kU16:
        return Scale<uint16_t>(first, count, out);
      case DType::kI16:
        return Scale<int16_t>(first, count, out);
      case DType::kU32:
        return Scale<uint32_t>(first, count, out);
      case DType::kI32:
        return Scale<int32_t>(first, count, out);
      case DType::kU64:
        return Scale<uint64_t>(first, count, out);
      case DType::kI64:
        return Scale<int64_t>(first, count, out);
      case DType::kF32:
        return Scale<float>(first, count, out);
      default:
        return Scale<double>(first, count, out);
    }
  }

  template <class Stored, class Out>
  void Scale(int64_t first, int64_t count, Out* out) const {
    Stored values[kChunk];
    stored_->Read(first, count, values);
    for (int64_t i = 0; i < count; ++i) {
      out[i] = static_cast<Out>(slope_ * static_cast<double>(values[i]) + inter_);
    }
  }

  std::unique_ptr<Array> stored_;
  double slope_;
  double inter_;
};

bool IsGzip(const InputFile& file) {
  std::byte head[2] = {};
  if (file.size() < 2) return false;
  file.ReadAt(0, head);
  return head[0] == std::byte{0x1f} && head[1] == std::byte{0x8b};
}

// The decoded bytes of a file, compressed or not.
std::unique_ptr<ByteStream> Decoded(const InputFile& file) {
  auto stored = std::make_unique<FileStream>(file, 0, file.size());
  if (!IsGzip(file)) return stored;
  return std::make_unique<InflateStream>(file.path(), std::move(stored), Compression::kGzip);
}

void Skip(ByteStream* stream, const std::string& name, int64_t bytes) {
  Bytes chunk(size_t{1} << 16);
  while (bytes > 0) {
    const std::span part(chunk.data(), std::min(chunk.size(), static_cast<size_t>(bytes)));
    ReadExactly(stream, name, "NIfTI header extensions", part);
    bytes -= static_cast<int64_t>(part.size());
  }
}

std::unique_ptr<Array> OpenPlain(InputFile file, const NiftiHeader& header, ArrayInfo info) {
  const std::string name = file.path();
  const int64_t required = CheckedNumBytes(name, info);
  const int64_t found = std::max<int64_t>(0, file.size() - header.data_offset);
  if (found != required) {
    Throw(ErrorCode::kBadData,
          "{}: {}: {} bytes of voxels found, the header requires {}",
          name,
          found < required ? "truncated" : "data after the last voxel",
          found,
          required);
  }
  return MakeFileArray(name, std::move(info), std::move(file), header.data_offset, header.swap);
}

// All of a compressed file at once; null where memory does not allow it or the file is not what it
// should be, which decoding it bit by bit then explains.
std::unique_ptr<Array> OpenAtOnce(const InputFile& file,
                                  const NiftiHeader& header,
                                  const ArrayInfo& info,
                                  const OpenOptions& options) {
  const int64_t stored_bytes = file.size();
  int64_t bytes = CheckedNumBytes(file.path(), info);
  if (__builtin_add_overflow(bytes, header.data_offset, &bytes) ||
      bytes > options.memory_limit - stored_bytes)
    return nullptr;
  AlignedBuffer stored;
  const std::span<std::byte> from(stored.Reserve(stored_bytes), static_cast<size_t>(stored_bytes));
  file.ReadAt(0, from);
  AlignedBuffer decoded;
  const std::span<std::byte> to(decoded.Reserve(bytes), static_cast<size_t>(bytes));
  if (!InflateWhole(from, Compression::kGzip, to)) return nullptr;
  return MakeDecodedArray(
      file.path(), info, std::move(decoded), header.data_offset, header.swap, options);
}

std::unique_ptr<Array> OpenCompressed(const InputFile& file,
                                      const NiftiHeader& header,
                                      int64_t header_bytes,
                                      const ArrayInfo& info,
                                      ByteStream* after_header,
                                      const OpenOptions& options) {
  const std::string& path = file.path();
  const int64_t bytes = CheckedNumBytes(path, info);
  RequirePossibleSize(path, bytes, file.size());
  if (auto array = OpenAtOnce(file, header, info, options)) return array;
  Skip(after_header, path, header.data_offset - header_bytes);
  Spool spool(path, options);
  Fill(&spool, after_header, path, bytes);
  RequireEnd(after_header, path);
  return spool.TakeArray(info, header.swap);
}

std::unique_ptr<Array> OpenNifti(const std::string& path, const OpenOptions& options) {
  InputFile file(path);
  const std::unique_ptr<ByteStream> stream = Decoded(file);
  int64_t header_bytes = 0;
  const NiftiHeader header = ReadNiftiHeader(stream.get(), path, &header_bytes);
  const ArrayInfo info = NiftiArrayInfo(header, path);
  CheckPromise(options, path, header.slope == 0.0 ? info : ScaledInfo(info));
  std::unique_ptr<Array> array =
      IsGzip(file) ? OpenCompressed(file, header, header_bytes, info, stream.get(), options)
                   : OpenPlain(std::move(file), header, info);
  if (header.slope == 0.0) return array;
  return std::make_unique<ScaledArray>(std::move(array), header.slope, header.inter);
}

bool SniffNifti(const unsigned char* head, int64_t size) noexcept {
  if (size >= 2 && head[0] == 0x1f && head[1] == 0x8b) return true;
  if (size < 4) return false;
  for (const bool swap : {false, true}) {
    const auto length = Load<int32_t>(reinterpret_cast<const std::byte*>(head), swap);
    if (length == 348 || length == 540) return true;
  }
  return false;
}

// Geometry of the reference where it is NIfTI, and then of the same size in space, else from the
// spacing.
void SetGeometry(const std::string& path,
                 const ArrayInfo& info,
                 const WriteOptions& options,
                 NiftiHeader* header) {
  header->geometry = PlainGeometry(info);
  if (options.reference.empty()) return;
  const std::optional<NiftiHeader> found = ReadNiftiFileHeader(options.reference);
  if (!found) return;
  const NiftiHeader& reference = *found;
  for (size_t axis = 1; axis <= 3; ++axis) {
    const int64_t length = static_cast<int64_t>(axis) <= reference.dim[0] ? reference.dim[axis] : 1;
    if (length == header->dim[axis]) continue;
    Throw(ErrorCode::kInvalidArgument,
          "{}: {} voxels along axis {}, the reference {} has {}",
          path,
          header->dim[axis],
          axis,
          options.reference,
          length);
  }
  header->geometry = reference.geometry;
  // An image (X, Y) and one of a single slice (X, Y, 1) are told apart by some readers.
  if (header->dim[0] <= 3 && reference.dim[0] <= 3) header->dim[0] = reference.dim[0];
}

std::unique_ptr<ArrayWriter> CreateNifti(const std::string& path,
                                         const ArrayInfo& info,
                                         const WriteOptions& options) {
  CheckNiftiType(path, info.dtype);
  CheckedNumBytes(path, info);
  NiftiHeader header;
  header.dtype = info.dtype;
  header.dim = NiftiDim(path, info);
  SetGeometry(path, info, options, &header);
  const Bytes head = EncodeNiftiHeader(header);
  const bool gzip = path.ends_with('z') || path.ends_with('Z');
  if (!gzip) return MakeDirectWriter(path, info, head, {});
  const int threads = options.threads;
  return MakeSpoolWriter(path, info, options, [=](const Spool& elements, OutputFile* file) {
    GzipInBlocks(head, elements, threads, file);
  });
}

}  // namespace

std::optional<NiftiHeader> ReadNiftiFileHeader(const std::string& path) {
  const InputFile file(path);
  std::byte head[4] = {};
  const int64_t head_bytes = std::min<int64_t>(4, file.size());
  file.ReadAt(0, std::span(head).first(static_cast<size_t>(head_bytes)));
  if (!SniffNifti(reinterpret_cast<const unsigned char*>(head), head_bytes)) return std::nullopt;
  int64_t header_bytes = 0;
  return ReadNiftiHeader(Decoded(file).get(), path, &header_bytes);
}

extern constinit const FormatInfo kNifti{
    .name = "nifti",
    .summary =
        "NIfTI-1 and -2, plain or gzip: volumes, soft maps with the class in axis 4, geometry.",
    .extensions = ".nii.gz .nii",
    .sniff = &SniffNifti,
    .open = &OpenNifti,
    .create = &CreateNifti,
    .writes_floats = true,
    .writes_volumes = true,
    .axes_below_classes = 3,
    .keeps_geometry = true};

}  // namespace segcal
