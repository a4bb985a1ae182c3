// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/file.h"
#include "formats/array.h"
#include "formats/bytes.h"
#include "segcal/error.h"
#include "tests/support/temp_folder.h"

// For the unit tests of this folder only.
namespace segcal {

using testing::TempFolder;

// Writes without syncing.
inline void Put(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

inline std::string ToString(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// What zlib makes of a text; the window bits choose the container.
inline std::string Deflate(std::string text, int window_bits) {
  z_stream zlib{};
  deflateInit2(&zlib, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&zlib, text.size()), '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(text.data());
  zlib.avail_in = static_cast<uInt>(text.size());
  zlib.next_out = reinterpret_cast<Bytef*>(out.data());
  zlib.avail_out = static_cast<uInt>(out.size());
  deflate(&zlib, Z_FINISH);
  out.resize(zlib.total_out);
  deflateEnd(&zlib);
  return out;
}
// One gzip member, and the bare stream that zip archives hold.
inline std::string Gzip(std::string text) { return Deflate(std::move(text), MAX_WBITS + 16); }
inline std::string RawDeflate(std::string text) { return Deflate(std::move(text), -MAX_WBITS); }

// A text that shrinks, but not to nothing.
inline std::string LongText() {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i * 7919 % 1000);
  return text;
}

template <class T>
std::string RawBytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// The elements 0, 1, 2, ...
template <class T>
std::vector<T> Counting(int64_t count) {
  std::vector<T> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(i));
  return values;
}

template <class T>
std::vector<T> ReadAll(const Array& array) {
  std::vector<T> values(static_cast<size_t>(array.info().NumElements()));
  EXPECT_EQ(ElementSize(array.info().dtype), static_cast<int64_t>(sizeof(T)));
  array.Read(0, array.info().NumElements(), values.data());
  return values;
}

inline void ReadEverything(const std::string& path, const OpenOptions& options = {}) {
  const std::unique_ptr<Array> array = OpenArray(path, options);
  Bytes bytes(static_cast<size_t>(array->info().NumElements() * ElementSize(array->info().dtype)));
  array->Read(0, array->info().NumElements(), bytes.data());
}

// The message of the Error that opening or reading gives; it must name the file.
inline std::string OpenError(const std::string& path, const OpenOptions& options = {}) {
  try {
    ReadEverything(path, options);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << path << " was accepted";
  return "";
}

inline std::string ErrorOf(const std::string& path,
                           const std::string& content,
                           const OpenOptions& options = {}) {
  Put(path, content);
  return OpenError(path, options);
}

// A file cut short anywhere is refused by name.
inline void ExpectEveryPrefixIsRefused(const std::string& path, const std::string& content) {
  for (size_t size = 0; size < content.size(); ++size) {
    SCOPED_TRACE(size);
    ErrorOf(path, content.substr(0, size));
  }
}

// Whatever one byte becomes, the file opens or is refused; under sanitizers this shows more.
inline void ExpectEveryByteMayChange(const std::string& path, const std::string& content) {
  OpenOptions options;
  options.memory_limit = 1 << 20;
  for (size_t at = 0; at < content.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string changed = content;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      Put(path, changed);
      try {
        ReadEverything(path, options);
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
      }
    }
  }
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

}  // namespace segcal
