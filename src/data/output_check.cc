// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>

#include "core/file.h"
#include "core/json.h"
#include "core/throw.h"
#include "data/array_source.h"
#include "formats/onnx_reader.h"

namespace segcal {
namespace {

// The first bytes of a file, as many as there are.
std::string ReadStart(const std::string& path) {
  constexpr int64_t kBytes = 512;
  const InputFile file(path);
  std::string start(static_cast<size_t>(std::min(kBytes, file.size())), '\0');
  file.ReadAt(0, std::as_writable_bytes(std::span(start)));
  return start;
}

bool IsArray(const std::string& path) {
  const std::string start = ReadStart(path);
  const auto* head = reinterpret_cast<const unsigned char*>(start.data());
  return std::any_of(Formats().begin(), Formats().end(), [&](const FormatInfo* format) {
    return format->sniff(head, static_cast<int64_t>(start.size()));
  });
}

// Graphs of calibrators say so in their metadata, whatever its prefix, behind a segmenter too. The
// segmenter's own file does not, and is not ours to replace.
bool IsCalibratorGraph(const std::string& path) {
  const std::string bytes = ReadText(path, std::numeric_limits<int32_t>::max());
  const OnnxOutline outline = ReadOnnx(bytes, path);
  return std::any_of(outline.metadata.begin(), outline.metadata.end(), [](const auto& key) {
    return key.ends_with("segcal.pipeline");
  });
}

// How a kind is called, and what tells its files: a key of JSON, or the text they start with, a
// mark near it, and a look into them.
struct KindInfo {
  FileKind kind;
  const char* name;
  const char* json_key = nullptr;
  const char* start = "";
  const char* mark = "";
  bool (*look)(const std::string& path) = nullptr;
};
constexpr KindInfo kKinds[] = {
    {.kind = FileKind::kDataset, .name = "a segcal data set", .json_key = "segcal_dataset"},
    {.kind = FileKind::kModel, .name = "a segcal model", .json_key = "segcal_model"},
    {.kind = FileKind::kMetrics, .name = "segcal's metrics", .json_key = "segcal_metrics"},
    {.kind = FileKind::kTable, .name = "one of segcal's tables", .start = "pipeline,"},
    {.kind = FileKind::kFigure,
     .name = "one of segcal's figures",
     .start = "<svg ",
     .mark = "role=\"img\" font-family=\"system-ui,-apple-system,"},
    {.kind = FileKind::kArray, .name = "an array", .look = &IsArray},
    {.kind = FileKind::kCheckpoint, .name = "a kept training", .json_key = "segcal_checkpoint"},
    {.kind = FileKind::kPart, .name = "the state of a part", .start = "segcal part "},
    {.kind = FileKind::kOnnx,
     .name = "a graph with a segcal calibrator",
     .start = "\x08",  // the version of the format, with which every ONNX file begins
     .look = &IsCalibratorGraph},
    {.kind = FileKind::kPage,
     .name = "a page of segcal",
     .start = "<!doctype html>",
     .mark = "<meta name=\"generator\" content=\"segcal\">"},
};

const KindInfo& Info(FileKind kind) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindInfo& info) {
    return info.kind == kind;
  });
}

bool HasKey(const std::string& path, const std::string& start, const char* key) {
  if (start.find_first_not_of(" \t\r\n") == std::string::npos ||
      start[start.find_first_not_of(" \t\r\n")] != '{')
    return false;
  const Json json = ReadJson(path);
  return json.is_object() && json.contains(key);
}

// A file wherever its names lie: device and number on it.
using FileNumber = std::pair<uint64_t, uint64_t>;

FileNumber Number(const struct stat& status) {
  return {static_cast<uint64_t>(status.st_dev), static_cast<uint64_t>(status.st_ino)};
}

std::string Canonical(const std::string& path) {
  std::error_code error;
  // Of a relative name whose first part is not there, weakly_canonical would leave the folder out.
  const std::filesystem::path resolved =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  return error ? path : resolved.string();
}

// The deepest folder on the way to `folder` that is there must be one that can be written to.
void CheckFolder(const std::string& folder) {
  std::filesystem::path at = std::filesystem::absolute(folder);
  std::error_code error;
  while (!std::filesystem::exists(at, error) && at.has_relative_path()) at = at.parent_path();
  if (!std::filesystem::is_directory(at, error))
    Throw(ErrorCode::kIo, "{}: cannot create the folder: {} is a file", folder, at.string());
  if (::access(at.c_str(), W_OK | X_OK) != 0)
    Throw(ErrorCode::kIo, "{}: cannot write: {}", folder, std::strerror(errno));
}

bool NamesFolder(const std::string& path) {
  std::error_code error;
  return path.ends_with('/') || std::filesystem::is_directory(path, error);
}

}  // namespace

bool HoldsKind(const std::string& path, FileKind kind) {
  try {
    const std::string start = ReadStart(path);
    const KindInfo& info = Info(kind);
    if (info.json_key != nullptr) return HasKey(path, start, info.json_key);
    return start.starts_with(info.start) && start.find(info.mark) != std::string::npos &&
           (info.look == nullptr || info.look(path));
  } catch (const Error&) {
    return false;  // what cannot be read, or not as JSON, is not ours
  }
}

struct OutputCheck::State {
  bool force = false;
  std::set<FileNumber> read;
  std::set<std::string> written;

  // Of a file that is there.
  void CheckReplacing(const std::string& file, const struct stat& status, FileKind kind) const {
    if (!S_ISREG(status.st_mode))
      Throw(ErrorCode::kIo, "{}: cannot write: it exists and is not a regular file", file);
    if (::access(file.c_str(), W_OK) != 0)
      Throw(ErrorCode::kIo, "{}: cannot write: {}", file, std::strerror(errno));
    if (force) return;
    if (read.contains(Number(status))) {
      Throw(ErrorCode::kInvalidArgument,
            "{}: is to be written, and is read; choose another name (option force writes over it)",
            file);
    }
    if (status.st_size == 0 || HoldsKind(file, kind)) return;
    Throw(ErrorCode::kInvalidArgument,
          "{}: is there and is not {}; choose another name (option force writes over it)",
          file,
          Info(kind).name);
  }
};

OutputCheck::OutputCheck(bool force) : state_(std::make_unique<State>()) { state_->force = force; }
OutputCheck::~OutputCheck() = default;

void OutputCheck::Reads(const std::string& file) {
  struct stat status {};
  // Opening it says what is wrong with a file that is not there.
  if (::stat(file.c_str(), &status) == 0) state_->read.insert(Number(status));
}

void OutputCheck::Reads(const Dataset& dataset) {
  if (!dataset.file.empty()) Reads(dataset.file);
  const auto add = [&](const ArraySource& source) {
    for (const std::string& path : FullPaths(dataset, source)) Reads(path);
  };
  for (const Case& c : dataset.cases) {
    for (const ArraySource& member : c.members) add(member);
    for (const ArraySource* source : {&c.labels, &c.image, &c.mask}) add(*source);
  }
}

void OutputCheck::Writes(const std::string& file, FileKind kind) {
  if (file.empty())
    Throw(ErrorCode::kInvalidArgument, "{} needs the name of a file", Info(kind).name);
  if (NamesFolder(file)) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: is the name of a folder, {} is to be written to a file",
          file,
          Info(kind).name);
  }
  if (!state_->written.insert(Canonical(file)).second)
    Throw(ErrorCode::kInvalidArgument, "{}: is to be written twice", file);
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0) {
    state_->CheckReplacing(file, status, kind);
  } else if (errno != ENOENT && errno != ENOTDIR) {  // a name that is too long, links in a circle
    Throw(ErrorCode::kIo, "{}: cannot write: {}", file, std::strerror(errno));
  }
  const std::string folder = std::filesystem::path(Canonical(file)).parent_path().string();
  CheckFolder(folder.empty() ? "." : folder);
}

void OutputCheck::WritesInto(const std::string& folder) const {
  if (folder.empty()) Throw(ErrorCode::kInvalidArgument, "outputs need the name of a folder");
  CheckFolder(folder);
}

}  // namespace segcal
