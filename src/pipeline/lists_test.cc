// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "calibrators/list.h"
#include "formats/array.h"
#include "metrics/metric.h"
#include "segcal/apply.h"
#include "segcal/error.h"
#include "segcal/evaluate.h"
#include "segcal/methods.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::TempFolder;

// Whether an array of this type and shape becomes a file of the format.
bool CanWrite(const FormatDescription& format, DType dtype, const std::vector<int64_t>& shape) {
  const TempFolder folder;
  try {
    CreateArray(folder.File("x" + format.extensions.front()),
                {.dtype = dtype, .shape = shape, .spacing = {}});
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Oracle: the writers themselves.
TEST(ListFormats, SaysWhatTheWritersDo) {
  for (const FormatDescription& format : ListFormats()) {
    const bool floats = CanWrite(format, DType::kF32, {4, 5});
    EXPECT_EQ(format.writes, CanWrite(format, DType::kU8, {4, 5})) << format.name;
    EXPECT_EQ(format.writes_floats, floats) << format.name;
    EXPECT_EQ(format.writes_float16, CanWrite(format, DType::kF16, {4, 5})) << format.name;
    EXPECT_EQ(format.writes_volumes, CanWrite(format, DType::kU8, {3, 4, 5})) << format.name;
  }
}

TEST(ListFormats, HasTheKnownOnesInOrder) {
  std::vector<std::string> names;
  for (const FormatDescription& format : ListFormats()) names.push_back(format.name);
  EXPECT_EQ(names, (std::vector<std::string>{"npy", "npz", "nifti", "png", "jpeg"}));
  EXPECT_EQ(ListFormats()[2].extensions, (std::vector<std::string>{".nii.gz", ".nii"}));
  EXPECT_EQ(FindWritableFormat(ApplyOptions().format).name, std::string("npy"));
  ExpectError(ErrorCode::kInvalidArgument, {"\"jpeg\"", "npy, npz, nifti, png"}, [] {
    FindWritableFormat("jpeg");
  });
}

TEST(ListCalibrators, DescribesEveryOne) {
  const std::vector<CalibratorDescription> list = ListCalibrators();
  ASSERT_EQ(list.size(), Calibrators().size());
  for (size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(list[i].name, Calibrators()[i]->name);
    EXPECT_EQ(list[i].options, Calibrators()[i]->default_options());
    EXPECT_FALSE(list[i].summary.empty()) << list[i].name;
    EXPECT_FALSE(list[i].page.empty()) << list[i].name;
    EXPECT_EQ(list[i].composes, list[i].name == "selective") << list[i].name;
  }
}

TEST(ListMetrics, DescribesEveryNumberOfEveryFamily) {
  const std::vector<MetricFamilyDescription> list = ListMetrics();
  ASSERT_EQ(list.size(), Metrics().size());
  for (const MetricFamilyDescription& family : list) {
    for (const MetricDescription& metric : family.metrics) {
      const MetricNumber* number = FindNumber(metric.name);
      ASSERT_NE(number, nullptr) << metric.name;
      EXPECT_EQ(metric.goal, number->goal) << metric.name;
      EXPECT_EQ(metric.pooled, number->of_bins != nullptr) << metric.name;
    }
  }
}

TEST(SelectedFamilies, AreThoseNamedOrAllButTheOnesOnRequest) {
  std::vector<std::string> usual;
  for (const MetricFamilyDescription& family : ListMetrics()) {
    if (!family.on_request) usual.push_back(family.name);
  }
  EvaluateOptions options;
  EXPECT_EQ(SelectedFamilies(options), usual);
  options.families = {"nll"};
  EXPECT_EQ(SelectedFamilies(options), (std::vector<std::string>{"scores"}));
  options.families = {"all"};
  EXPECT_EQ(SelectedFamilies(options).size(), ListMetrics().size());
  options.families = {"colour"};
  ExpectError(ErrorCode::kInvalidArgument, {"\"colour\""}, [&] { SelectedFamilies(options); });
}

TEST(ListOutputs, StartsWithWhatApplyWritesByDefault) {
  const std::vector<OutputDescription> list = ListOutputs();
  EXPECT_EQ(ApplyOptions().write, (std::vector<std::string>{list.front().name}));
  for (const OutputDescription& output : list) {
    EXPECT_EQ(output.per_class, output.name == "probabilities") << output.name;
    EXPECT_EQ(output.needs_labels, output.name == "log_label") << output.name;
  }
}

}  // namespace
}  // namespace segcal
