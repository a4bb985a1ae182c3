// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "data/nnunet.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::TempFolder;
using Names = std::vector<std::string>;

Dataset NnunetLabels(const char* content) {
  const TempFolder folder;
  Dataset dataset;
  ReadNnunetLabels(folder.Put("dataset.json", content), &dataset);
  return dataset;
}

TEST(ReadNnunetLabels, TakesClassesBackgroundAndIgnoreLabel) {
  const Dataset dataset = NnunetLabels(
      R"({"labels": {"tumour": 2, "background": 0, "liver": 1, "ignore": 3}, "numTraining": 5})");
  EXPECT_EQ(dataset.classes, (Names{"background", "liver", "tumour"}));
  EXPECT_EQ(dataset.ignore_label, 3);
  EXPECT_EQ(dataset.background, 0);
}

TEST(ReadNnunetLabels, ExplainsWhyRegionsAreRefused) {
  ExpectError(ErrorCode::kUnsupported, {"dataset.json", "\"whole\"", "sigmoids"}, [] {
    NnunetLabels(R"({"labels": {"background": 0, "whole": [1, 2]}})");
  });
}

// nnU-Net takes a list of one label for that label.
TEST(ReadNnunetLabels, TakesAListOfOneLabelForTheLabel) {
  EXPECT_EQ(NnunetLabels(R"({"labels": {"background": 0, "liver": [1]}})").classes,
            (Names{"background", "liver"}));
}

TEST(ReadNnunetLabels, RefusesOtherFiles) {
  const auto refused = [](const char* content, const std::string& part) {
    ExpectError(ErrorCode::kBadData, {"dataset.json", part}, [&] { NnunetLabels(content); });
  };
  refused("[]", "labels");
  refused("{}", "labels");
  refused(R"({"labels": {"background": 0, "liver": 2}})", "2 is out of turn");
  refused(R"({"labels": {"background": "0"}})", "\"background\"");
  refused(R"({"labels": {"0": "background", "1": "liver"}})", "nnU-Net 1");
  refused(R"({"labels": {"background": 0, "liver": 1, "tumour": 1}})", "same label 1");
}

}  // namespace
}  // namespace segcal
