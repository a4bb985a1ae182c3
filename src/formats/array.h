// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/dtype.h"

namespace segcal {

// What a file says about the array in it. Shapes are in C order, slowest axis first, whatever the
// file's own order: a NIfTI volume of dim (X, Y, Z) has shape (Z, Y, X), its soft map (C, Z, Y, X).
struct ArrayInfo {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::vector<double> spacing;  // spatial axes, slowest first; empty where the format has none
  // Elements are numbers of something, not intensities: indices of a palette, or fewer than 8 bits.
  bool indexed = false;

  int64_t NumElements() const noexcept;  // product of shape; readers have checked that it fits
};

// Element (i, j, ...) at data[i * strides[0] + j * strides[1] + ...], strides in elements.
struct MemoryLayout {
  const void* data = nullptr;
  std::vector<int64_t> strides;
};

// An opened array: elements in C order and native byte order, wherever they are stored. Reading is
// safe from several threads at once; a file that shrank since it was opened gives an Error.
class Array {
 public:
  virtual ~Array() = default;
  const std::string& name() const noexcept { return name_; }  // file and key, for messages
  const ArrayInfo& info() const noexcept { return info_; }

  // Copies elements [first, first + count) in C order to `out`.
  virtual void Read(int64_t first, int64_t count, void* out) const = 0;
  // The same elements in place where they are already in memory in C order, else null.
  virtual const void* Direct(int64_t first) const noexcept = 0;
  // All elements in place where they are already in memory, in whatever order; else without data.
  virtual MemoryLayout layout() const;
  // Memory that this array owns.
  virtual int64_t resident_bytes() const noexcept { return 0; }

 protected:
  Array(std::string name, ArrayInfo info) : name_(std::move(name)), info_(std::move(info)) {}

 private:
  std::string name_;
  ArrayInfo info_;
};

struct OpenOptions {
  // Member of an archive; empty means the well-known ones, else the only one.
  std::string key;
  // Decoded data (deflated, Fortran order) above this many bytes goes to an unlinked temporary
  // file.
  int64_t memory_limit = int64_t{256} << 20;
  // Folder of that temporary file; empty means the system's.
  std::string cache_dir;
  // Decoded data goes there whatever its size: it is to be kept, and memory is full.
  bool decoded_to_file = false;
  // Whether the checksum of an archive member that is read in place is checked on opening, which
  // reads it once. A second opening of a file already checked may leave it out.
  bool verify = true;
  // Sees what a file says of its array before any element is decoded, and throws if that will not
  // do: a small file may promise gigabytes.
  std::function<void(const std::string& name, const ArrayInfo& info)> check = {};
};

// An array being written: elements arrive in any order, from several threads at once. The file
// appears under its name, complete and synced, at Commit; without Commit nothing is left behind.
// Elements never written are zero.
class ArrayWriter {
 public:
  virtual ~ArrayWriter() = default;
  virtual void WriteAt(int64_t first, int64_t count, const void* data) = 0;
  virtual void Commit() = 0;
};

struct WriteOptions {
  std::string key = "probabilities";  // name inside an archive
  bool compress = false;              // archives: deflate what is in them
  // A file of the same format whose geometry (orientation, spacing) the new file takes over.
  std::string reference;
  // Formats that are encoded as a whole (.nii.gz, .png, deflated .npz) keep the elements until
  // Commit: in memory up to this many bytes, else in an unlinked temporary file in cache_dir
  // (empty: the system's).
  int64_t memory_limit = int64_t{256} << 20;
  std::string cache_dir;
  // That may encode at Commit; the bytes do not depend on it.
  int threads = 1;
};

// One file format: everything the rest of the program knows about it.
struct FormatInfo {
  const char* name;
  const char* summary;
  const char* extensions;  // space separated, with the dot, longest first: ".nii.gz .nii"
  // Whether `head`, the first bytes of a file, can be the start of this format.
  bool (*sniff)(const unsigned char* head, int64_t size) noexcept;
  std::unique_ptr<Array> (*open)(const std::string& path, const OpenOptions& options);
  // Null where the format is read only.
  std::unique_ptr<ArrayWriter> (*create)(const std::string& path,
                                         const ArrayInfo& info,
                                         const WriteOptions& options);
  // What new files can hold, where there are any.
  bool writes_floats = false;  // else whole numbers of up to 16 bits
  bool writes_float16 = false;
  bool writes_volumes = false;  // else (H, W) alone: neither a third axis nor one of classes
  // Spatial axes that an array with one of classes must have: NIfTI has classes on its fourth.
  int64_t axes_below_classes = 0;
  bool keeps_geometry = false;  // new files say where their voxels are in space
};

// The extensions of a format, one by one; new files get the first.
std::vector<std::string> Extensions(const FormatInfo& format);

// The format of a file by its content (magic bytes); the extension is only used in messages. A file
// of none is an Error.
const FormatInfo& DetectFormat(const std::string& path);

// The format with the longest extension that `path` ends in, or null.
const FormatInfo* FormatByExtension(const std::string& path);

// `path` without that extension; as it is where there is none.
std::string WithoutExtension(const std::string& path);

// Opens a file by its content.
std::unique_ptr<Array> OpenArray(const std::string& path, const OpenOptions& options = {});

// Creates a file by its extension.
std::unique_ptr<ArrayWriter> CreateArray(const std::string& path,
                                         const ArrayInfo& info,
                                         const WriteOptions& options = {});

// Writes a whole array at once.
void SaveArray(const std::string& path,
               const ArrayInfo& info,
               const void* data,
               const WriteOptions& options = {});

// An array over memory that outlives it; strides in elements, none: C order. They must be as many
// as the axes of the shape.
std::unique_ptr<Array> ArrayOverMemory(std::string name,
                                       ArrayInfo info,
                                       const void* data,
                                       std::vector<int64_t> strides = {});

// All formats, in the order of list.cc.
const std::vector<const FormatInfo*>& Formats();

// The format of that name; an Error that lists the names unless it can be written.
const FormatInfo& FindWritableFormat(const std::string& name);

}  // namespace segcal
