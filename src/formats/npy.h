// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/aligned.h"
#include "core/file.h"
#include "formats/array.h"
#include "formats/bytes.h"
#include "formats/stream.h"

// What .npy files and the members of .npz files share.
namespace segcal {

struct NpyHeader {
  ArrayInfo info;
  bool swap = false;     // the elements have the other byte order
  bool fortran = false;  // first axis fastest
  int64_t header_bytes = 0;
  int64_t data_bytes = 0;  // by dtype and shape
};

// Reads the header at the start of a stream and leaves the stream at the first element.
NpyHeader ReadNpyHeader(ByteStream* stream, const std::string& name);

// The same, and checks that the whole image has `size` bytes and what the options promise.
NpyHeader ReadCheckedHeader(ByteStream* stream,
                            const std::string& name,
                            int64_t size,
                            const OpenOptions& options);

// Parses the dictionary of a header, a Python literal, into dtype, byte order, axis order and
// shape.
NpyHeader ParseNpyDictionary(std::string_view text, const std::string& name);

// Opens bytes [offset, offset + size) of a file, a whole .npy image, without copying them.
std::unique_ptr<Array> OpenNpyInPlace(const std::string& name,
                                      InputFile file,
                                      int64_t offset,
                                      int64_t size,
                                      const OpenOptions& options);

// Decodes a stream that must hold `size` bytes, a whole .npy image.
std::unique_ptr<Array> OpenNpyStream(const std::string& name,
                                     ByteStream* stream,
                                     int64_t size,
                                     const OpenOptions& options);

// The same of a whole .npy image that is in memory: the first `size` bytes of a buffer.
std::unique_ptr<Array> OpenNpyInMemory(const std::string& name,
                                       AlignedBuffer image,
                                       int64_t size,
                                       const OpenOptions& options);

// Header of a version 1.0, C order, native-order file, padded so that the data is 64-byte aligned.
Bytes EncodeNpyHeader(const std::string& name, const ArrayInfo& info);

}  // namespace segcal
