// SPDX-License-Identifier: Apache-2.0
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "core/throw.h"
#include "formats/storage.h"

namespace segcal {
namespace {

// Shared by reading and writing: libpng's state and what went wrong. libpng reports errors by
// longjmp, which must not pass over C++ objects: each call goes through Try, whose steps hold plain
// pointers only, and an exception of our own I/O is kept here until libpng has been left.
struct Codec {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string path;
  std::exception_ptr failure;
  char message[128] = {};
  png_bytep row = nullptr;    // of the step under way
  png_bytepp rows = nullptr;  // all rows, of an interlaced image
  png_uint_32 width = 0;      // what is written
  png_uint_32 height = 0;
  int bit_depth = 0;  // of the file, read or written
  int color_type = 0;
};

struct PngReader : Codec {
  explicit PngReader(const InputFile& input) : file(input) { path = input.path(); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
  const InputFile& file;
  int64_t offset = 0;
};

struct Writer : Codec {
  explicit Writer(OutputFile* output) : file(output) { path = output->path(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { png_destroy_write_struct(&png, &info); }
  OutputFile* file;
};

extern "C" [[noreturn]] void OnPngError(png_structp png, png_const_charp message) {
  auto* codec = static_cast<Codec*>(png_get_error_ptr(png));
  std::strncpy(codec->message, message, sizeof(codec->message) - 1);
  png_longjmp(png, 1);
}

extern "C" void OnPngWarning(png_structp, png_const_charp) {}

extern "C" void OnPngRead(png_structp png, png_bytep out, size_t size) {
  auto* reader = static_cast<PngReader*>(png_get_io_ptr(png));
  try {
    reader->file.ReadAt(reader->offset, {reinterpret_cast<std::byte*>(out), size});
    reader->offset += static_cast<int64_t>(size);
  } catch (...) {
    reader->failure = std::current_exception();
  }
  if (reader->failure) png_error(png, "cannot read");
}

extern "C" void OnPngWrite(png_structp png, png_bytep data, size_t size) {
  auto* writer = static_cast<Writer*>(png_get_io_ptr(png));
  try {
    writer->file->Append({reinterpret_cast<const std::byte*>(data), size});
  } catch (...) {
    writer->failure = std::current_exception();
  }
  if (writer->failure) png_error(png, "cannot write");
}

extern "C" void OnPngFlush(png_structp) {}

// The only setjmp. False after an error of libpng.
bool Guarded(Codec* codec, void (*step)(Codec*)) {
  if (setjmp(png_jmpbuf(codec->png)) != 0) return false;
  step(codec);
  return true;
}

void Try(Codec* codec, void (*step)(Codec*)) {
  if (Guarded(codec, step)) return;
  if (codec->failure) std::rethrow_exception(codec->failure);
  Throw(ErrorCode::kBadData, "{}: PNG: {}", codec->path, codec->message);
}

void RequireMemory(const Codec& codec) {
  if (codec.png == nullptr || codec.info == nullptr) {
    Throw(ErrorCode::kIo, "{}: not enough memory for libpng", codec.path);
  }
}

void StartReading(PngReader* reader) {
  reader->png = png_create_read_struct(
      PNG_LIBPNG_VER_STRING, static_cast<Codec*>(reader), OnPngError, OnPngWarning);
  if (reader->png != nullptr) reader->info = png_create_info_struct(reader->png);
  RequireMemory(*reader);
  png_set_read_fn(reader->png, reader, OnPngRead);
  Try(reader, [](Codec* codec) {
    constexpr png_uint_32 kMaxLength = 1000000;
    constexpr png_alloc_size_t kMaxChunkBytes = png_alloc_size_t{8} << 20;
    png_set_user_limits(codec->png, kMaxLength, kMaxLength);
    png_set_chunk_malloc_max(codec->png, kMaxChunkBytes);
    png_set_crc_action(codec->png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_read_info(codec->png, codec->info);
    codec->bit_depth = png_get_bit_depth(codec->png, codec->info);
    // Label maps need the stored numbers: palette indices, and gray values of 1, 2 and 4 bits
    // unscaled.
    png_set_packing(codec->png);
    if (kLittleEndianMachine) png_set_swap(codec->png);
    png_set_interlace_handling(codec->png);
    png_read_update_info(codec->png, codec->info);
  });
}

ArrayInfo DescribePng(const PngReader& reader) {
  ArrayInfo info;
  info.dtype = png_get_bit_depth(reader.png, reader.info) == 16 ? DType::kU16 : DType::kU8;
  info.shape = {png_get_image_height(reader.png, reader.info),
                png_get_image_width(reader.png, reader.info)};
  const int channels = png_get_channels(reader.png, reader.info);
  if (channels > 1) info.shape.push_back(channels);
  // Of the file: a packed bit depth below 8 has become 8 above.
  info.indexed =
      png_get_color_type(reader.png, reader.info) == PNG_COLOR_TYPE_PALETTE || reader.bit_depth < 8;
  return info;
}

void ReadRows(PngReader* reader, const ArrayInfo& info, Spool* spool) {
  Bytes row(png_get_rowbytes(reader->png, reader->info));
  reader->row = reinterpret_cast<png_bytep>(row.data());
  for (int64_t y = 0; y < info.shape[0]; ++y) {
    Try(reader, [](Codec* codec) { png_read_row(codec->png, codec->row, nullptr); });
    spool->Append(row);
  }
}

// The rows of an interlaced image come in seven passes: it is held as a whole.
void ReadInterlaced(PngReader* reader, const ArrayInfo& info, int64_t memory_limit, Spool* spool) {
  const int64_t bytes = CheckedNumBytes(reader->path, info);
  if (bytes > memory_limit) {
    Throw(ErrorCode::kUnsupported,
          "{}: an interlaced image of {} bytes, at most {} fit in memory",
          reader->path,
          bytes,
          memory_limit);
  }
  Bytes image(static_cast<size_t>(bytes));
  const size_t row_bytes = png_get_rowbytes(reader->png, reader->info);
  std::vector<png_bytep> rows;
  for (size_t at = 0; at < image.size(); at += row_bytes) {
    rows.push_back(reinterpret_cast<png_bytep>(image.data() + at));
  }
  reader->rows = rows.data();
  Try(reader, [](Codec* codec) { png_read_image(codec->png, codec->rows); });
  spool->Append(image);
}

std::unique_ptr<Array> OpenPng(const std::string& path, const OpenOptions& options) {
  const InputFile file(path);
  PngReader reader(file);
  StartReading(&reader);
  const ArrayInfo info = DescribePng(reader);
  // Eight pixels of one bit become eight bytes.
  RequirePossibleSize(path, CheckedNumBytes(path, info) / 8, file.size());
  CheckPromise(options, path, info);
  Spool spool(path, options);
  if (png_get_interlace_type(reader.png, reader.info) == PNG_INTERLACE_NONE) {
    ReadRows(&reader, info, &spool);
  } else {
    ReadInterlaced(&reader, info, options.memory_limit, &spool);
  }
  Try(&reader, [](Codec* codec) { png_read_end(codec->png, nullptr); });
  return spool.TakeArray(info, /*swap=*/false);
}

bool SniffPng(const unsigned char* head, int64_t size) noexcept {
  constexpr unsigned char kMagic[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  return size >= 8 && std::equal(kMagic, kMagic + 8, head);
}

bool IsWritable(const ArrayInfo& info) {
  const bool gray = info.shape.size() == 2 && ElementSize(info.dtype) <= 2 && !IsFloat(info.dtype);
  const bool color = info.shape.size() == 3 && info.shape[2] == 3 && info.dtype == DType::kU8;
  const bool is_unsigned =
      info.dtype == DType::kU8 || info.dtype == DType::kU16 || info.dtype == DType::kBool;
  constexpr int64_t kMaxLength = 1000000;
  return (gray || color) && is_unsigned && std::min(info.shape[0], info.shape[1]) > 0 &&
         std::max(info.shape[0], info.shape[1]) <= kMaxLength;
}

void Encode(const ArrayInfo& info, const Spool& elements, OutputFile* file) {
  Writer writer(file);
  writer.png = png_create_write_struct(
      PNG_LIBPNG_VER_STRING, static_cast<Codec*>(&writer), OnPngError, OnPngWarning);
  if (writer.png != nullptr) writer.info = png_create_info_struct(writer.png);
  RequireMemory(writer);
  png_set_write_fn(writer.png, &writer, OnPngWrite, OnPngFlush);
  writer.height = static_cast<png_uint_32>(info.shape[0]);
  writer.width = static_cast<png_uint_32>(info.shape[1]);
  writer.bit_depth = static_cast<int>(8 * ElementSize(info.dtype));
  writer.color_type = info.shape.size() == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY;
  Try(&writer, [](Codec* codec) {
    png_set_IHDR(codec->png,
                 codec->info,
                 codec->width,
                 codec->height,
                 codec->bit_depth,
                 codec->color_type,
                 PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(codec->png, codec->info);
    if (kLittleEndianMachine) png_set_swap(codec->png);
  });
  Bytes row(static_cast<size_t>(elements.size() / info.shape[0]));
  writer.row = reinterpret_cast<png_bytep>(row.data());
  for (int64_t y = 0; y < info.shape[0]; ++y) {
    elements.ReadAt(y * static_cast<int64_t>(row.size()), row);
    Try(&writer, [](Codec* codec) { png_write_row(codec->png, codec->row); });
  }
  Try(&writer, [](Codec* codec) { png_write_end(codec->png, nullptr); });
}

std::unique_ptr<ArrayWriter> CreatePng(const std::string& path,
                                       const ArrayInfo& info,
                                       const WriteOptions& options) {
  CheckedNumBytes(path, info);
  if (!IsWritable(info)) {
    Throw(
        ErrorCode::kInvalidArgument,
        "{}: {} of shape ({}), a PNG holds (H, W) of uint8, uint16 or bool, or (H, W, 3) of uint8",
        path,
        Name(info.dtype),
        fmt::join(info.shape.begin(), info.shape.end(), ", "));
  }
  return MakeSpoolWriter(path, info, options, [info](const Spool& elements, OutputFile* file) {
    Encode(info, elements, file);
  });
}

}  // namespace

extern constinit const FormatInfo kPng{
    .name = "png",
    .summary = "PNG label maps (gray or palette indices, as stored) and images.",
    .extensions = ".png",
    .sniff = &SniffPng,
    .open = &OpenPng,
    .create = &CreatePng};

}  // namespace segcal
