// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "segcal/dataset.h"
#include "segcal/export.h"

namespace segcal {

// Writes a text file, such as a result as JSON or a figure: it appears under its name complete, or
// not at all.
SEGCAL_EXPORT void WriteText(const std::string& path, std::string_view text);

// Makes the folder and those above it, unless they are there.
SEGCAL_EXPORT void CreateFolder(const std::string& path);
// The same for the folder a file is to be in.
SEGCAL_EXPORT void CreateParentFolder(const std::string& file);

// Folders made on the way to files that may never come: at its end those of them that are still
// empty are removed again.
class SEGCAL_EXPORT NewFolders {
 public:
  NewFolders() = default;
  ~NewFolders();
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;

  void Make(const std::string& folder);      // as CreateFolder
  void MakeParent(const std::string& file);  // as CreateParentFolder

 private:
  std::vector<std::string> made_;  // parents first
};

// What a file holds, of those that are written here.
enum class FileKind {
  kDataset,
  kModel,
  kMetrics,
  kTable,
  kFigure,
  kArray,
  kCheckpoint,
  kPart,
  kOnnx,
  kPage
};

// Whether a file holds this, by a look into it; not of a file that is not there.
SEGCAL_EXPORT bool HoldsKind(const std::string& path, FileKind kind);

// Keeps operations from writing over what they read, and over files that are not of the kind they
// write. Tell it what will be read, then what will be written, before the work begins. Names are
// compared by the file they lead to: links and other spellings are the same.
class SEGCAL_EXPORT OutputCheck {
 public:
  // With `force` both may be written over.
  explicit OutputCheck(bool force = false);
  ~OutputCheck();
  OutputCheck(const OutputCheck&) = delete;
  OutputCheck& operator=(const OutputCheck&) = delete;

  void Reads(const std::string& file);
  void Reads(const Dataset& dataset);  // its file, if it comes from one, and those of its cases

  // An Error unless the file can be made, or is an empty or regular file of this kind that none of
  // the above is.
  void Writes(const std::string& file, FileKind kind);
  // An Error unless the folder is there or can be made.
  void WritesInto(const std::string& folder) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace segcal
