// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "segcal/files.h"

namespace segcal {

// A folder that is being filled: it must be new or empty, and is so again unless all of it is
// complete, because nobody could use half of it and the same command would refuse it.
class NewFolder {
 public:
  // Makes the folder; an Error where there is something in its place.
  explicit NewFolder(std::string path);
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::string& path() const noexcept { return path_; }
  // The folder is complete.
  void Keep() noexcept { kept_ = true; }

 private:
  std::string path_;
  NewFolders made_;
  bool kept_ = false;
};

}  // namespace segcal
