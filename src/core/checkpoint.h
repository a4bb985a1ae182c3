// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/json_fwd.h"

namespace segcal {

// What a long computation keeps so that it can go on after it was killed: one JSON file, replaced
// whole at every Save, so it is always one that can be read. Parts have names: the stages of a
// composition keep their own. Of ranks (core/ranks.h) the first alone reads and writes it.
class Checkpoint {
 public:
  // `problem` identifies what is computed. With `resume` the file is read if it is there, and an
  // Error if it belongs to another problem; without, the first Save replaces it.
  Checkpoint(std::string path, uint64_t problem, bool resume);
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  const std::string& path() const noexcept { return path_; }
  const Json* Find(const std::string& part) const;  // null: nothing was kept
  void Save(const std::string& part, const Json& state);

 private:
  void Read(const std::string& text);

  std::string path_;
  uint64_t problem_;
  std::unique_ptr<Json> parts_;
};

}  // namespace segcal
