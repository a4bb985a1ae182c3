// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <utility>

// Needs <cstdio> and <cstddef> before it.
#include <jpeglib.h>

#include "core/throw.h"
#include "formats/jpeg.h"
#include "formats/storage.h"

namespace segcal {
namespace {

// Photographs; anything larger is not one.
constexpr int64_t kMaxFileBytes = int64_t{256} << 20;
// The densest Huffman stream spends a bit or two on a block of 64 pixels. More pixels per byte than
// this are an image of one colour at best; a few bytes that claim gigapixels are an attack.
constexpr int64_t kMaxPixelsPerByte = 4096;
// Each scan of a progressive file goes over the whole image; encoders use about ten.
constexpr int kMaxScans = 200;

// libjpeg's state. It reports errors by longjmp, which must not pass over C++ objects: each call
// goes through Try, whose steps hold plain pointers only.
struct JpegReader {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump{};
  char message[JMSG_LENGTH_MAX] = {};
  std::string path;
  Bytes file;
  long memory_limit = 0;
  JSAMPROW row = nullptr;

  JpegReader() = default;
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&jpeg); }
};

JpegReader* ReaderOf(j_common_ptr jpeg) { return static_cast<JpegReader*>(jpeg->client_data); }

extern "C" [[noreturn]] void OnJpegError(j_common_ptr jpeg) {
  JpegReader* reader = ReaderOf(jpeg);
  jpeg->err->format_message(jpeg, reader->message);
  std::longjmp(reader->jump, 1);
}

// Level -1 is a warning: the data is damaged, and libjpeg would go on with made-up pixels.
extern "C" void OnJpegMessage(j_common_ptr jpeg, int level) {
  if (level < 0) OnJpegError(jpeg);
}

extern "C" void OnJpegProgress(j_common_ptr jpeg) {
  JpegReader* reader = ReaderOf(jpeg);
  if (reader->jpeg.input_scan_number <= kMaxScans) return;
  std::snprintf(reader->message, sizeof(reader->message), "more than %d scans", kMaxScans);
  std::longjmp(reader->jump, 1);
}

// The only setjmp. False after an error of libjpeg.
bool Guarded(JpegReader* reader, void (*step)(JpegReader*)) {
  if (setjmp(reader->jump) != 0) return false;
  step(reader);
  return true;
}

void Try(JpegReader* reader, void (*step)(JpegReader*)) {
  if (!Guarded(reader, step)) {
    Throw(ErrorCode::kBadData,
          "{}: JPEG: {}",
          reader->path,
          static_cast<const char*>(reader->message));
  }
}

void LoadFile(const std::string& path, JpegReader* reader) {
  const InputFile file(path);
  const int64_t size = file.size();
  if (size > kMaxFileBytes) {
    Throw(ErrorCode::kUnsupported, "{}: a JPEG of {} bytes, at most {}", path, size, kMaxFileBytes);
  }
  reader->path = path;
  reader->file.resize(static_cast<size_t>(size));
  file.ReadAt(0, reader->file);
}

void ReadHeader(JpegReader* reader) {
  reader->jpeg.err = jpeg_std_error(&reader->errors);
  reader->errors.error_exit = OnJpegError;
  reader->errors.emit_message = OnJpegMessage;
  reader->progress.progress_monitor = OnJpegProgress;
  reader->jpeg.client_data = reader;
  Try(reader, [](JpegReader* r) {
    jpeg_create_decompress(&r->jpeg);
    r->jpeg.progress = &r->progress;
    r->jpeg.mem->max_memory_to_use = r->memory_limit;
    jpeg_mem_src(&r->jpeg,
                 reinterpret_cast<const unsigned char*>(r->file.data()),
                 static_cast<unsigned long>(r->file.size()));
    jpeg_read_header(&r->jpeg, TRUE);
  });
}

// Sets the output to gray or RGB and says what it will be.
ArrayInfo ChooseOutput(JpegReader* reader) {
  jpeg_decompress_struct& jpeg = reader->jpeg;
  if (jpeg.num_components != 1 && jpeg.num_components != 3) {
    Throw(ErrorCode::kUnsupported,
          "{}: a JPEG of {} channels, 1 (gray) or 3 (color) is required",
          reader->path,
          jpeg.num_components);
  }
  const bool gray = jpeg.num_components == 1;
  jpeg.out_color_space = gray ? JCS_GRAYSCALE : JCS_RGB;
  ArrayInfo info;
  info.dtype = DType::kU8;
  info.shape = {int64_t{jpeg.image_height}, int64_t{jpeg.image_width}};
  if (!gray) info.shape.push_back(3);
  const int64_t pixels = info.shape[0] * info.shape[1];
  const auto file_bytes = static_cast<int64_t>(reader->file.size());
  if (pixels / kMaxPixelsPerByte > file_bytes) {
    Throw(ErrorCode::kBadData, "{}: {} pixels in {} bytes", reader->path, pixels, file_bytes);
  }
  return info;
}

// Decodes the bytes that the reader has.
std::unique_ptr<Array> Decode(JpegReader* given, const OpenOptions& options) {
  JpegReader& reader = *given;
  reader.memory_limit = static_cast<long>(options.memory_limit);
  ReadHeader(&reader);
  const ArrayInfo info = ChooseOutput(&reader);
  Try(&reader, [](JpegReader* r) { jpeg_start_decompress(&r->jpeg); });
  Bytes row(static_cast<size_t>(CheckedNumBytes(reader.path, info) / info.shape[0]));
  reader.row = reinterpret_cast<JSAMPROW>(row.data());
  Spool spool(reader.path, options);
  for (int64_t y = 0; y < info.shape[0]; ++y) {
    Try(&reader, [](JpegReader* r) { jpeg_read_scanlines(&r->jpeg, &r->row, 1); });
    spool.Append(row);
  }
  Try(&reader, [](JpegReader* r) { jpeg_finish_decompress(&r->jpeg); });
  return spool.TakeArray(info, /*swap=*/false);
}

std::unique_ptr<Array> OpenJpeg(const std::string& path, const OpenOptions& options) {
  JpegReader reader;
  LoadFile(path, &reader);
  return Decode(&reader, options);
}

bool SniffJpeg(const unsigned char* head, int64_t size) noexcept {
  return size >= 3 && head[0] == 0xff && head[1] == 0xd8 && head[2] == 0xff;
}

}  // namespace

std::unique_ptr<Array> DecodeJpeg(const std::string& name, Bytes file) {
  JpegReader reader;
  reader.path = name;
  reader.file = std::move(file);
  return Decode(&reader, {});
}

extern constinit const FormatInfo kJpeg{.name = "jpeg",
                                        .summary = "JPEG images, read only.",
                                        .extensions = ".jpeg .jpg",
                                        .sniff = &SniffJpeg,
                                        .open = &OpenJpeg,
                                        .create = nullptr};

}  // namespace segcal
