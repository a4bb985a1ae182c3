// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace segcal::testing {

// A folder that is removed with all it holds; in memory where the system has such a place, because
// tests write many small files and sync each.
class TempFolder {
 public:
  TempFolder() {
    const std::filesystem::path fallback = std::filesystem::temp_directory_path();
    for (const std::filesystem::path& base : {std::filesystem::path("/dev/shm"), fallback}) {
      // mkdtemp replaces the six X by a name that is free; the form is its requirement.
      std::string name = (base / "segcal-test-XXXXXX").string();
      if (path_.empty() && ::mkdtemp(name.data()) != nullptr) path_ = name;
    }
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  size_t NumFiles() const {
    const std::filesystem::directory_iterator files(path_);
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }

  // Writes a file, its folders made first, and returns its path.
  std::string Put(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(File(name)).parent_path());
    std::ofstream(File(name), std::ios::binary) << content;
    return File(name);
  }
  std::string Get(const std::string& name) const {
    std::ifstream file(File(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  std::string path_;
};

}  // namespace segcal::testing
