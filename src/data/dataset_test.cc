// SPDX-License-Identifier: Apache-2.0
#include "segcal/dataset.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/json.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::TempFolder;

constexpr const char* kMinimal = R"({
  "segcal_dataset": 1, "classes": ["a", "b"], "input": "logits",
  "cases": [{"id": "0", "members": ["m.npy"]}]})";

Dataset FullDataset() {
  Dataset dataset;
  dataset.name = "street \u00e9";
  dataset.classes = {"sky", "road", "car"};
  dataset.input = InputKind::kProbs;
  dataset.ignore_label = 255;
  dataset.background = 0;
  dataset.layout = Layout::kChannelsLast;
  dataset.key = "softmax";
  dataset.label_map = {{-1, 255}, {7, 0}, {8, 2}};
  Case& full = dataset.cases.emplace_back();
  full.id = "0001";
  full.members = {"m0/0001.npy", "m1/0001.npy"};
  full.labels = "labels/0001.png";
  full.image = "images/0001.png";
  full.mask = "masks/0001.png";
  full.spacing = {0.5, 1.0 / 3.0};
  full.group = "patient 7";
  full.split = "calibration";
  Case& bare = dataset.cases.emplace_back();
  bare.id = "0002";
  bare.members = {ArraySource::Item("batch.npy", 3), ArraySource::PerClass({"a", "b", "c"})};
  return dataset;
}

TEST(Dataset, RefusesSpacingThatIsNoLength) {
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    Dataset dataset = FullDataset();
    dataset.cases[0].spacing[1] = bad;
    ExpectError(ErrorCode::kBadData, {"cases[0]", "spacing"}, [&] { CheckDataset(dataset, "d"); });
  }
}

TEST(Dataset, ReadsBackAsItWasWritten) {
  const TempFolder folder;
  const Dataset written = FullDataset();
  SaveDataset(folder.File("d.json"), written);
  const Dataset read = LoadDataset(folder.File("d.json"));
  EXPECT_EQ(read.name, written.name);
  EXPECT_EQ(read.classes, written.classes);
  EXPECT_EQ(read.input, written.input);
  EXPECT_EQ(read.ignore_label, written.ignore_label);
  EXPECT_EQ(read.background, written.background);
  EXPECT_EQ(read.layout, written.layout);
  EXPECT_EQ(read.key, written.key);
  EXPECT_EQ(read.label_map, written.label_map);
  EXPECT_EQ(read.folder, folder.path());
  ASSERT_EQ(read.cases.size(), 2u);
  EXPECT_EQ(read.cases[0].members, written.cases[0].members);
  EXPECT_EQ(read.cases[1].members, written.cases[1].members);
  EXPECT_EQ(read.cases[0].labels, written.cases[0].labels);
  EXPECT_EQ(read.cases[0].image, written.cases[0].image);
  EXPECT_EQ(read.cases[0].mask, written.cases[0].mask);
  EXPECT_EQ(read.cases[0].spacing, written.cases[0].spacing);
  EXPECT_EQ(read.cases[0].group, written.cases[0].group);
  EXPECT_EQ(read.cases[0].split, written.cases[0].split);
  EXPECT_TRUE(read.cases[1].labels.empty());
  EXPECT_TRUE(read.cases[1].spacing.empty());
}

TEST(Dataset, RefusesArraysThatAreNoneOfItsThreeForms) {
  const auto refused = [](const std::string& member, const std::string& part) {
    const TempFolder folder;
    const std::string path = folder.Put("d.json",
                                        R"({"segcal_dataset": 1, "classes": ["a"],
        "input": "logits", "cases": [{"id": "0", "members": [)" +
                                            member + "]}]}");
    ExpectError(ErrorCode::kBadData, {"cases[0]", part}, [&] { LoadDataset(path); });
  };
  refused("3", "members[0]");
  refused("[\"a\"]", "members[0]");
  refused(R"({"file": "a"})", "item");
  refused(R"({"item": 1})", "file");
  refused(R"({"file": "a", "item": 1.5})", "item");
  refused(R"({"file": "a", "item": 1, "per_class": ["b"]})", "unknown field");
  refused(R"({"per_class": []})", "neither a file nor a view");
}

TEST(Dataset, WritesTheSameBytesAgain) {
  const TempFolder folder;
  SaveDataset(folder.File("first.json"), FullDataset());
  SaveDataset(folder.File("second.json"), LoadDataset(folder.File("first.json")));
  EXPECT_EQ(folder.Get("first.json"), folder.Get("second.json"));
}

TEST(Dataset, OfImagesNeedsNeitherMembersNorInput) {
  const TempFolder folder;
  Dataset images{.name = "photos", .classes = {"a", "b"}};
  images.cases = {{.id = "0", .labels = "y.png", .image = "x.png"}};
  SaveDataset(folder.File("d.json"), images, Contents::kImages);
  const Dataset read = LoadDataset(folder.File("d.json"), Contents::kImages);
  EXPECT_FALSE(read.input.has_value());
  EXPECT_TRUE(read.cases[0].members.empty());
  EXPECT_EQ(read.cases[0].image, images.cases[0].image);
  ExpectError(
      ErrorCode::kBadData, {"d.json", "input"}, [&] { LoadDataset(folder.File("d.json")); });
  images.cases[0].image = {};
  ExpectError(ErrorCode::kBadData, {"cases[0]", "has no image"}, [&] {
    SaveDataset(folder.File("e.json"), images, Contents::kImages);
  });
}

TEST(Dataset, IsFoundInAFolderAndNamedAfterItsFile) {
  const TempFolder folder;
  folder.Put("dataset.json", kMinimal);
  const Dataset dataset = LoadDataset(folder.path());
  EXPECT_EQ(dataset.name, "dataset");
  EXPECT_EQ(dataset.folder, folder.path());
  EXPECT_EQ(dataset.layout, Layout::kChannelsFirst);
  EXPECT_FALSE(dataset.ignore_label.has_value());
  ExpectError(ErrorCode::kIo, {"absent.json"}, [&] { LoadDataset(folder.File("absent.json")); });
  ExpectError(ErrorCode::kIo, {"cannot open"}, [] { LoadDataset(std::string(5000, 'x')); });
}

TEST(Dataset, TreatsNullAsAbsent) {
  const TempFolder folder;
  Json json = ParseJson(kMinimal, "minimal");
  for (const char* key : {"ignore_label", "background", "layout", "key", "label_map", "name"})
    json[key] = nullptr;
  for (const char* key : {"labels", "image", "mask", "spacing", "group", "split"})
    json["cases"][0][key] = nullptr;
  EXPECT_NO_THROW(LoadDataset(folder.Put("d.json", DumpJson(json))));
}

// A minimal file with one JSON patch (RFC 6902) applied is refused, by file name and reason.
struct Refusal {
  const char* patch;
  ErrorCode code;
  std::vector<std::string> parts;
};

void ExpectRefusedDataset(const Refusal& refusal) {
  SCOPED_TRACE(refusal.patch);
  const TempFolder folder;
  const Json json = ParseJson(kMinimal, "minimal").patch(ParseJson(refusal.patch, "patch"));
  const std::string path = folder.Put("d.json", DumpJson(json));
  std::vector<std::string> parts = {path};
  parts.insert(parts.end(), refusal.parts.begin(), refusal.parts.end());
  ExpectError(refusal.code, parts, [&] { LoadDataset(path); });
}

TEST(Dataset, RefusesAnotherVersionByName) {
  ExpectRefusedDataset({R"([{"op": "replace", "path": "/segcal_dataset", "value": 2}])",
                        ErrorCode::kUnsupported,
                        {"format 2", "reads 1"}});
  ExpectRefusedDataset({R"([{"op": "remove", "path": "/segcal_dataset"}])",
                        ErrorCode::kBadData,
                        {"segcal_dataset"}});
}

TEST(Dataset, RefusesFieldsItDoesNotKnow) {
  ExpectRefusedDataset({R"([{"op": "add", "path": "/ignore_lable", "value": 255}])",
                        ErrorCode::kBadData,
                        {"unknown field \"ignore_lable\""}});
  ExpectRefusedDataset({R"([{"op": "add", "path": "/cases/0/label", "value": "x.png"}])",
                        ErrorCode::kBadData,
                        {"cases[0]", "unknown field \"label\""}});
}

TEST(Dataset, RefusesClassesThatCannotBe) {
  ExpectRefusedDataset({R"([{"op": "replace", "path": "/classes", "value": []}])",
                        ErrorCode::kBadData,
                        {"0 classes"}});
  ExpectRefusedDataset({R"([{"op": "replace", "path": "/classes", "value": [1]}])",
                        ErrorCode::kBadData,
                        {"classes"}});
  ExpectRefusedDataset({R"([{"op": "add", "path": "/ignore_label", "value": 1}])",
                        ErrorCode::kBadData,
                        {"ignore_label 1", "[0, 2)"}});
  ExpectRefusedDataset({R"([{"op": "add", "path": "/background", "value": 2}])",
                        ErrorCode::kBadData,
                        {"background 2", "[0, 2)"}});
  ExpectRefusedDataset({R"([{"op": "add", "path": "/background", "value": -1}])",
                        ErrorCode::kBadData,
                        {"background -1"}});
}

TEST(Dataset, RefusesUnknownInputAndLayout) {
  ExpectRefusedDataset({R"([{"op": "replace", "path": "/input", "value": "softmax"}])",
                        ErrorCode::kBadData,
                        {"\"input\" is \"softmax\"", "log_probabilities"}});
  ExpectRefusedDataset(
      {R"([{"op": "remove", "path": "/input"}])", ErrorCode::kBadData, {"\"input\" is missing"}});
  ExpectRefusedDataset({R"([{"op": "add", "path": "/layout", "value": "nhwc"}])",
                        ErrorCode::kBadData,
                        {"\"layout\" is \"nhwc\"", "channels_last"}});
}

TEST(Dataset, RefusesALabelMapToNowhere) {
  ExpectRefusedDataset({R"([{"op": "add", "path": "/label_map", "value": {"7": 2}}])",
                        ErrorCode::kBadData,
                        {"label_map sends 7 to 2", "[0, 2)"}});
  ExpectRefusedDataset({R"([{"op": "add", "path": "/label_map", "value": {"7": 255}}])",
                        ErrorCode::kBadData,
                        {"label_map sends 7 to 255"}});
  ExpectRefusedDataset({R"([{"op": "add", "path": "/label_map", "value": {"road": 1}}])",
                        ErrorCode::kBadData,
                        {"\"road\" is not a whole number"}});
  ExpectRefusedDataset(
      {R"([{"op": "add", "path": "/label_map", "value": {"99999999999999999999": 1}}])",
       ErrorCode::kBadData,
       {"is not a whole number"}});
  ExpectRefusedDataset({R"([{"op": "add", "path": "/label_map", "value": {"7": 0.5}}])",
                        ErrorCode::kBadData,
                        {"\"7\" is sent to 0.5, a whole number is required"}});
  ExpectRefusedDataset({R"([{"op": "add", "path": "/label_map", "value": {"7": 0, "07": 1}}])",
                        ErrorCode::kBadData,
                        {"7 is given twice"}});
}

TEST(Dataset, RefusesIdsThatCannotBeFileNames) {
  for (const char* id : {"", ".", "..", "a/b", "../../etc/passwd", "/absolute", "a\\u0000b"}) {
    const std::string patch =
        std::string(R"([{"op": "replace", "path": "/cases/0/id", "value": ")") + id + "\"}]";
    ExpectRefusedDataset(
        {patch.c_str(), ErrorCode::kBadData, {"cases[0]", "cannot be a file name"}});
  }
}

TEST(Dataset, RefusesCasesThatDoNotFitEachOther) {
  ExpectRefusedDataset(
      {R"([{"op": "add", "path": "/cases/-", "value": {"id": "0", "members": ["x"]}}])",
       ErrorCode::kBadData,
       {"cases[1]", "\"0\" is used twice"}});
  ExpectRefusedDataset(
      {R"([{"op": "add", "path": "/cases/-", "value": {"id": "1", "members": ["x", "y"]}}])",
       ErrorCode::kBadData,
       {"cases[1]", "2 members", "first case has 1"}});
  ExpectRefusedDataset({R"([{"op": "replace", "path": "/cases/0/members", "value": []}])",
                        ErrorCode::kBadData,
                        {"cases[0]", "no members"}});
  ExpectRefusedDataset({R"([{"op": "add", "path": "/cases/0/spacing", "value": [1, 0]}])",
                        ErrorCode::kBadData,
                        {"cases[0]", "spacing 0"}});
  ExpectRefusedDataset({R"([{"op": "replace", "path": "/cases", "value": {}}])",
                        ErrorCode::kBadData,
                        {"\"cases\"", "an array"}});
  ExpectRefusedDataset({R"([{"op": "replace", "path": "/cases/0", "value": 3}])",
                        ErrorCode::kBadData,
                        {"cases[0]", "an object"}});
}

// Cases 0, 1, ... of these splits.
Dataset WithSplits(const std::vector<std::string>& splits) {
  Dataset dataset;
  dataset.name = "d";
  for (const std::string& split : splits) {
    Case& entry = dataset.cases.emplace_back();
    entry.id = std::to_string(dataset.cases.size() - 1);
    entry.split = split;
  }
  return dataset;
}

TEST(SelectSplit, KeepsTheCasesOfOneSplitInOrder) {
  const Dataset test = SelectSplit(WithSplits({"test", "calibration", "test", ""}), "test");
  ASSERT_EQ(test.cases.size(), 2u);
  EXPECT_EQ(test.cases[0].id, "0");
  EXPECT_EQ(test.cases[1].id, "2");
}

TEST(SelectSplit, ListsTheKnownSplitsWhenThereIsNoSuchCase) {
  ExpectError(ErrorCode::kInvalidArgument, {"\"d\"", "\"test\"", "none"}, [] {
    SelectSplit(WithSplits({}), "test");
  });
  ExpectError(ErrorCode::kInvalidArgument, {"\"test\"", "a, b"}, [] {
    SelectSplit(WithSplits({"b", "a"}), "test");
  });
}

}  // namespace
}  // namespace segcal
