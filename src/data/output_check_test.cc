// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "formats/array.h"
#include "formats/onnx.h"
#include "segcal/files.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

namespace fs = std::filesystem;

using testing::ExpectError;
using testing::TempFolder;

constexpr ErrorCode kRefused = ErrorCode::kInvalidArgument;

TEST(HoldsKind, LooksIntoTheFile) {
  const TempFolder folder;
  const std::string model = folder.Put("m.json", "\n {\"segcal_model\": 1}");
  EXPECT_TRUE(HoldsKind(model, FileKind::kModel));
  EXPECT_FALSE(HoldsKind(model, FileKind::kDataset));
  EXPECT_TRUE(HoldsKind(folder.Put("d", "{\"segcal_dataset\": 1}"), FileKind::kDataset));
  EXPECT_TRUE(HoldsKind(folder.Put("c", "{\"segcal_checkpoint\": 1}"), FileKind::kCheckpoint));
  EXPECT_TRUE(HoldsKind(folder.Put("t", "pipeline,level,case\n"), FileKind::kTable));
  EXPECT_FALSE(HoldsKind(folder.Put("t", "name,pipeline,\n"), FileKind::kTable));
  EXPECT_FALSE(HoldsKind(folder.Put("s", "<svg><circle/></svg>"), FileKind::kFigure));
  // A list that mentions a model, and half a file, are none.
  EXPECT_FALSE(HoldsKind(folder.Put("l", "[\"segcal_model\"]"), FileKind::kModel));
  EXPECT_FALSE(HoldsKind(folder.Put("h", "{\"segcal_model\": "), FileKind::kModel));
  EXPECT_FALSE(HoldsKind(folder.File("nothing"), FileKind::kModel));
  EXPECT_FALSE(HoldsKind(folder.path(), FileKind::kModel));
  const float value = 1.0f;
  SaveArray(folder.File("a.npy"), {.dtype = DType::kF32, .shape = {1}, .spacing = {}}, &value);
  EXPECT_TRUE(HoldsKind(folder.File("a.npy"), FileKind::kArray));
  EXPECT_FALSE(HoldsKind(model, FileKind::kArray));
}

// A segmenter's own file is no graph of ours, nor is what only begins like one.
TEST(HoldsKind, TellsGraphsWithACalibratorFromOthers) {
  const TempFolder folder;
  const auto put = [&](const OnnxMetadata& metadata) {
    return folder.Put(
        "g",
        WriteOnnx(
            {.opset = 13, .producer = "test", .version = "", .graph = {}, .metadata = metadata}));
  };
  EXPECT_TRUE(HoldsKind(put({{"note", "a"}, {"brain_segcal.pipeline", "ts(z)"}}), FileKind::kOnnx));
  EXPECT_FALSE(HoldsKind(put({{"note", "segcal.pipeline"}}), FileKind::kOnnx));
  EXPECT_FALSE(HoldsKind(folder.Put("h", "\x08 segcal.pipeline"), FileKind::kOnnx));
  EXPECT_FALSE(HoldsKind(folder.Put("m", "{\"segcal_model\": 1}"), FileKind::kOnnx));
}

// Every name of a file that is read.
TEST(OutputCheck, RefusesWhatIsReadByAnyName) {
  const TempFolder folder;
  folder.Put("in.json", "{\"segcal_model\": 1}");
  fs::create_directory(folder.File("sub"));
  fs::create_symlink(folder.File("in.json"), folder.File("soft.json"));
  fs::create_hard_link(folder.File("in.json"), folder.File("hard.json"));
  fs::create_directory_symlink(folder.path(), folder.File("there"));
  for (const char* name :
       {"in.json", "./in.json", "sub/../in.json", "soft.json", "hard.json", "there/in.json"}) {
    OutputCheck check;
    check.Reads(folder.File("in.json"));
    ExpectError(kRefused, {name, "is read", "option force"}, [&] {
      check.Writes(folder.File(name), FileKind::kModel);
    });
    OutputCheck forced(/*force=*/true);
    forced.Reads(folder.File("in.json"));
    EXPECT_NO_THROW(forced.Writes(folder.File(name), FileKind::kModel));
  }
}

TEST(OutputCheck, RefusesFilesOfTheDataSetWhereverTheyAre) {
  const TempFolder folder;
  for (const char* name : {"d.json", "m.npy", "l.png", "i.png", "k.npy"})
    folder.Put(name, "{\"segcal_model\": 1}");
  Dataset dataset{.folder = folder.path(), .file = folder.File("d.json")};
  dataset.cases = {{.id = "a",
                    .members = {"m.npy"},
                    .labels = "l.png",
                    .image = folder.File("i.png"),
                    .mask = "k.npy"}};
  OutputCheck check;
  check.Reads(dataset);
  for (const char* name : {"d.json", "m.npy", "l.png", "i.png", "k.npy"}) {
    ExpectError(
        kRefused, {name, "is read"}, [&] { check.Writes(folder.File(name), FileKind::kModel); });
  }
}

TEST(OutputCheck, RefusesFilesOfAnotherKind) {
  const TempFolder folder;
  folder.Put("package.json", "{\"name\": \"x\"}");
  folder.Put("m.json", "{\"segcal_model\": 1}");
  folder.Put("empty", "");
  OutputCheck check;
  ExpectError(kRefused, {"package.json", "is not a segcal model", "option force"}, [&] {
    check.Writes(folder.File("package.json"), FileKind::kModel);
  });
  ExpectError(kRefused, {"m.json", "is not segcal's metrics"}, [&] {
    check.Writes(folder.File("m.json"), FileKind::kMetrics);
  });
  EXPECT_NO_THROW(OutputCheck().Writes(folder.File("m.json"), FileKind::kModel));
  EXPECT_NO_THROW(OutputCheck().Writes(folder.File("empty"), FileKind::kFigure));
  EXPECT_NO_THROW(OutputCheck(true).Writes(folder.File("package.json"), FileKind::kModel));
}

TEST(OutputCheck, RefusesWhatIsNoFile) {
  const TempFolder folder;
  folder.Put("file", "x");
  fs::create_directory(folder.File("there"));
  for (const char* name : {"there", "there/", "new/"}) {
    ExpectError(kRefused, {name, "folder"}, [&] {
      OutputCheck().Writes(folder.File(name), FileKind::kModel);
    });
  }
  ExpectError(ErrorCode::kIo, {"file"}, [&] {
    OutputCheck().Writes(folder.File("file/m.json"), FileKind::kModel);
  });
  ExpectError(ErrorCode::kIo, {"file"}, [&] { OutputCheck().WritesInto(folder.File("file/a/b")); });
  ExpectError(ErrorCode::kIo, {"too long"}, [&] {
    OutputCheck().Writes(folder.File(std::string(300, 'x')), FileKind::kModel);
  });
  // No force helps here.
  ExpectError(ErrorCode::kIo, {"/dev/null", "not a regular file"}, [&] {
    OutputCheck(true).Writes("/dev/null", FileKind::kModel);
  });
  EXPECT_NO_THROW(OutputCheck().WritesInto(folder.File("new/a/b")));
  ExpectError(
      kRefused, {"a segcal model", "name"}, [] { OutputCheck().Writes("", FileKind::kModel); });
  ExpectError(kRefused, {"name of a folder"}, [] { OutputCheck().WritesInto(""); });
}

TEST(OutputCheck, RefusesTwoOutputsInOneFile) {
  const TempFolder folder;
  OutputCheck check;
  check.Writes(folder.File("a/t.csv"), FileKind::kTable);
  ExpectError(kRefused, {"t.csv", "twice"}, [&] {
    check.Writes(folder.File("a/../a/./t.csv"), FileKind::kTable);
  });
}

TEST(NewFolders, RemovesWhatStayedEmpty) {
  const TempFolder folder;
  {
    NewFolders folders;
    folders.Make(folder.File("a/b/"));
    folders.MakeParent(folder.File("a/c/d/file"));
    EXPECT_TRUE(fs::is_directory(folder.File("a/b")));
    EXPECT_TRUE(fs::is_directory(folder.File("a/c/d")));
    folder.Put("a/c/other", "x");
  }
  EXPECT_FALSE(fs::exists(folder.File("a/b")));
  EXPECT_FALSE(fs::exists(folder.File("a/c/d")));
  EXPECT_TRUE(fs::exists(folder.File("a/c/other")));
}

TEST(NewFolders, LeavesFoldersThatWereThere) {
  const TempFolder folder;
  fs::create_directory(folder.File("old"));
  { NewFolders().Make(folder.File("old")); }
  EXPECT_TRUE(fs::is_directory(folder.File("old")));
}

}  // namespace
}  // namespace segcal
