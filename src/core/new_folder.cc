// SPDX-License-Identifier: Apache-2.0
#include "core/new_folder.h"

#include <filesystem>
#include <utility>

#include "core/throw.h"

namespace segcal {
namespace {

namespace fs = std::filesystem;

}  // namespace

NewFolder::NewFolder(std::string path) : path_(std::move(path)) {
  std::error_code error;
  if (fs::exists(path_, error) &&
      (!fs::is_directory(path_, error) || !fs::is_empty(path_, error))) {
    Throw(ErrorCode::kIo,
          "{}: not an empty folder; name a new folder, or remove this one first",
          path_);
  }
  made_.Make(path_);
}

NewFolder::~NewFolder() {
  if (kept_) return;
  std::error_code error;  // nothing can be done about it
  for (const auto& entry : fs::directory_iterator(path_, error))
    fs::remove_all(entry.path(), error);
}

}  // namespace segcal
