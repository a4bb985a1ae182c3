// SPDX-License-Identifier: Apache-2.0
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// Needs <cstdio> and <cstddef> before it.
#include <jpeglib.h>

#include "core/throw.h"
#include "formats/jpeg.h"

namespace segcal {
namespace {

// libjpeg's state while it compresses. Errors come by longjmp, which must not pass over C++
// objects: all of libjpeg is called in one step that holds plain pointers only.
struct JpegWriter {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  std::jmp_buf jump{};
  char message[JMSG_LENGTH_MAX] = {};
  JpegPicture picture;
  int quality = 0;
  unsigned char* out = nullptr;  // by malloc
  unsigned long size = 0;

  JpegWriter() = default;
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;
  ~JpegWriter() {
    jpeg_destroy_compress(&jpeg);
    std::free(out);
  }
};

extern "C" [[noreturn]] void OnEncodeError(j_common_ptr jpeg) {
  auto* writer = static_cast<JpegWriter*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, writer->message);
  std::longjmp(writer->jump, 1);
}

void DescribePicture(JpegWriter* w) {
  const bool gray = w->picture.channels == 1;
  w->jpeg.image_height = static_cast<JDIMENSION>(w->picture.height);
  w->jpeg.image_width = static_cast<JDIMENSION>(w->picture.width);
  w->jpeg.input_components = gray ? 1 : 3;
  w->jpeg.in_color_space = gray ? JCS_GRAYSCALE : JCS_RGB;
}

void Compress(JpegWriter* w) {
  jpeg_create_compress(&w->jpeg);
  jpeg_mem_dest(&w->jpeg, &w->out, &w->size);
  DescribePicture(w);
  jpeg_set_defaults(&w->jpeg);
  jpeg_set_quality(&w->jpeg, w->quality, TRUE);
  jpeg_start_compress(&w->jpeg, TRUE);
  const int64_t row_bytes = w->picture.width * w->picture.channels;
  while (w->jpeg.next_scanline < w->jpeg.image_height) {
    // libjpeg declares its input without const and does not write to it.
    JSAMPROW row = const_cast<JSAMPROW>(w->picture.pixels + w->jpeg.next_scanline * row_bytes);
    jpeg_write_scanlines(&w->jpeg, &row, 1);
  }
  jpeg_finish_compress(&w->jpeg);
}

// The only setjmp of the encoder. False after an error of libjpeg.
bool CompressGuarded(JpegWriter* writer) {
  if (setjmp(writer->jump) != 0) return false;
  Compress(writer);
  return true;
}

}  // namespace

Bytes EncodeJpeg(const std::string& name, const JpegPicture& picture, int quality) {
  if (picture.height < 1 || picture.width < 1 || picture.height > JPEG_MAX_DIMENSION ||
      picture.width > JPEG_MAX_DIMENSION) {
    Throw(ErrorCode::kUnsupported,
          "{}: {} x {} pixels, a JPEG has 1 to {} on a side",
          name,
          picture.height,
          picture.width,
          JPEG_MAX_DIMENSION);
  }
  JpegWriter writer;
  writer.jpeg.err = jpeg_std_error(&writer.errors);
  writer.errors.error_exit = OnEncodeError;
  writer.jpeg.client_data = &writer;
  writer.picture = picture;
  writer.quality = quality;
  if (!CompressGuarded(&writer)) {
    Throw(ErrorCode::kIo, "{}: JPEG: {}", name, static_cast<const char*>(writer.message));
  }
  Bytes file(static_cast<size_t>(writer.size));
  std::memcpy(file.data(), writer.out, file.size());
  return file;
}

}  // namespace segcal
