// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "segcal/dataset.h"

namespace segcal {

// The finished units of a study, a file each, named by a hash of the key: whatever determines the
// unit's result, written out. Files appear complete or not at all, so a study may be killed at any
// moment.
class UnitStore {
 public:
  struct Unit {
    std::string text;      // the result
    double seconds = 0.0;  // that it took
  };

  // An empty folder: nothing is kept. One that holds units is an Error without `resume`.
  UnitStore(std::string folder, bool resume);

  bool keeps() const noexcept { return !folder_.empty(); }

  // A file that holds another key than its name says is not a unit of this store.
  std::optional<Unit> Find(const std::string& key) const;
  void Keep(const std::string& key, const Unit& unit) const;
  // Where a training that is under way may keep its state; empty: nowhere.
  std::string PartFile(const std::string& key) const;
  void RemovePart(const std::string& key) const;

 private:
  std::string FileOf(const std::string& key, const char* extension) const;

  std::string folder_;  // of the units
};

// What identifies the data of a unit: cases in their order, and of every file its path in the data
// set, size and time of change. Arrays in memory cannot be told apart: an Error.
std::string DataKey(const Dataset& dataset);

}  // namespace segcal
