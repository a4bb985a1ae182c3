// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "core/json.h"
#include "formats/array.h"
#include "segcal/dataset.h"
#include "segcal/simulate.h"
#include "simulate/plan.h"
#include "simulate/scanner.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

SimulateImagesOptions FewImages() {
  SimulateImagesOptions options;
  options.num_cases = 10;
  options.size = {40, 60};
  return options;
}

std::vector<uint8_t> ReadBytes(const std::string& path) {
  const auto array = OpenArray(path);
  std::vector<uint8_t> bytes(static_cast<size_t>(array->info().NumElements()));
  array->Read(0, std::ssize(bytes), bytes.data());
  return bytes;
}

// A scene of one region without tint: half of it background, half of class 1.
Scene HalfAndHalf(const std::vector<int64_t>& shape) {
  Scene scene(shape);
  for (size_t v = scene.regions.size() / 2; v < scene.regions.size(); ++v) scene.regions[v] = 1;
  return scene;
}

double MeanOf(const std::vector<uint8_t>& bytes, size_t first, size_t end, size_t channels) {
  double sum = 0.0;
  for (size_t v = first; v < end; ++v) sum += static_cast<double>(bytes[channels * v]);
  return sum / static_cast<double>(end - first) / 255.0;
}

TEST(SimulateImages, WritesWhatItSays) {
  const testing::TempFolder folder;
  const SimulateImagesSummary summary = SimulateImages(folder.File("x"), FewImages());
  const Dataset dataset = LoadDataset(folder.File("x"), Contents::kImages);
  EXPECT_EQ(dataset.cases.size(), 10u);
  EXPECT_EQ(summary.num_voxels, 10 * 40 * 60);
  int64_t labelled = 0;
  std::map<std::string, int64_t> splits;
  for (const Case& entry : dataset.cases) {
    ++splits[entry.split];
    EXPECT_TRUE(entry.members.empty());
    EXPECT_EQ(OpenArray(folder.File("x/" + entry.image.path()))->info().shape,
              (std::vector<int64_t>{40, 60, 3}));
    for (const uint8_t label : ReadBytes(folder.File("x/" + entry.labels.path()))) {
      EXPECT_TRUE(label < dataset.num_classes() || label == kVoidLabel) << int{label};
      labelled += label == kVoidLabel ? 0 : 1;
    }
  }
  EXPECT_EQ(summary.num_labelled, labelled);
  const std::map<std::string, int64_t> expected = {
      {"train", 4}, {"validation", 1}, {"calibration", 2}, {"test", 2}, {"shift", 1}};
  EXPECT_EQ(splits, expected);
}

TEST(SimulateImages, OtherScannersTakeTheShiftedCasesAlone) {
  const testing::TempFolder folder;
  SimulateImages(folder.File("x"), FewImages());
  const Dataset dataset = LoadDataset(folder.File("x"), Contents::kImages);
  const Json json = ReadJson(folder.File("x/scanners.json"));
  ASSERT_EQ(json.at("cases").size(), dataset.cases.size());
  EXPECT_EQ(json.at("scanners").size(), 3u);
  for (size_t i = 0; i < dataset.cases.size(); ++i) {
    EXPECT_EQ(json.at("cases")[i].at("scanner").get<int64_t>() > 0,
              dataset.cases[i].split == "shift");
  }
}

TEST(SimulateImages, OneScannerHasNoShift) {
  const testing::TempFolder folder;
  SimulateImagesOptions options = FewImages();
  options.num_scanners = 1;
  SimulateImages(folder.File("x"), options);
  for (const Case& entry : LoadDataset(folder.File("x"), Contents::kImages).cases)
    EXPECT_NE(entry.split, "shift");
}

TEST(SimulateImages, DoesNotDependOnThreadsButOnTheSeed) {
  const testing::TempFolder folder;
  SimulateImagesOptions options = FewImages();
  options.num_cases = 3;
  options.splits = {};
  options.threads = 1;
  SimulateImages(folder.File("one"), options);
  options.threads = 3;
  SimulateImages(folder.File("three"), options);
  options.seed = 2;
  SimulateImages(folder.File("other"), options);
  for (const char* file : {"/images/0002.png", "/labels/0002.png"}) {
    EXPECT_EQ(ReadBytes(folder.File("one") + file), ReadBytes(folder.File("three") + file));
    EXPECT_NE(ReadBytes(folder.File("one") + file), ReadBytes(folder.File("other") + file));
  }
}

TEST(SimulateImages, VolumesAreGrayWithSpacing) {
  const testing::TempFolder folder;
  SimulateImagesOptions options = FewImages();
  options.preset = "brain";
  options.num_cases = 1;
  options.size = {8, 20, 24};
  options.splits = {};
  SimulateImages(folder.File("x"), options);
  const auto array = OpenArray(folder.File("x/images/0000.nii.gz"));
  EXPECT_EQ(array->info().shape, options.size);
  EXPECT_EQ(array->info().spacing, (std::vector<double>{3.0, 2.0, 2.0}));
}

TEST(SimulateImages, RefusesWhatItCannotDo) {
  const testing::TempFolder folder;
  SimulateImagesOptions options = FewImages();
  options.num_scanners = 0;
  testing::ExpectError(ErrorCode::kInvalidArgument, {"scanners 0", "1 to 100"}, [&] {
    SimulateImages(folder.File("x"), options);
  });
}

// Far from the border the mean of a region is its colour, drawn together towards 0.5, and the
// variance that of texture and noise: blur takes some of the first away, so it is an upper bound.
TEST(TakeImage, HasTheIntensitiesOfTheModel) {
  const Scene scene = HalfAndHalf({120, 90});
  const Scanner plain{.noise = 0.05, .blur = 0.7, .bias = 0.0};
  const std::vector<uint8_t> image = TakeImage(RoadsPreset(), scene, plain, {7, 0});
  const size_t voxels = scene.regions.size();
  for (const bool is_road : {false, true}) {
    const size_t first = is_road ? voxels / 2 + 900 : 0;
    const size_t end = is_road ? voxels : voxels / 2 - 900;
    const double colour = RoadsPreset().regions[is_road ? 1 : 0].colour[0];
    const double mean = MeanOf(image, first, end, 3);
    EXPECT_NEAR(mean, 0.5 + 0.5 * (colour - 0.5), 0.01);
    double variance = 0.0;
    for (size_t v = first; v < end; ++v)
      variance += std::pow(static_cast<double>(image[3 * v]) / 255.0 - mean, 2.0);
    variance /= static_cast<double>(end - first);
    EXPECT_GT(variance, 0.05 * 0.05 * 0.95);
    EXPECT_LT(variance, (0.05 * 0.05 + 0.05 * 0.05) * 1.1);
  }
}

TEST(TakeImage, AppliesTheCurveOfTheScanner) {
  const Scene scene = HalfAndHalf({60, 60});
  Scanner scanner{.noise = 0.0, .blur = 0.0, .bias = 0.0};
  const std::vector<uint8_t> plain = TakeImage(RoadsPreset(), scene, scanner, {7, 0});
  scanner.gain = {0.8, 1.0, 1.0};
  scanner.gamma = 1.5;
  const std::vector<uint8_t> curved = TakeImage(RoadsPreset(), scene, scanner, {7, 0});
  for (size_t i = 0; i < plain.size(); i += 3) {
    const double expected = 0.8 * std::pow(static_cast<double>(plain[i]) / 255.0, 1.5);
    EXPECT_NEAR(static_cast<double>(curved[i]) / 255.0, expected, 0.005);
  }
}

TEST(MakeScanner, DiffersFromTheFirstInEverything) {
  const Scanner first = MakeScanner(1, 0);
  EXPECT_EQ(first.gamma, 1.0);
  for (int64_t i = 1; i < 20; ++i) {
    const Scanner scanner = MakeScanner(1, i);
    EXPECT_GT(std::abs(std::log(scanner.gamma)), 0.1);
    EXPECT_LT(std::abs(std::log(scanner.gamma)), 0.4);
    EXPECT_GT(scanner.noise, 1.15 * first.noise);
    EXPECT_GT(scanner.blur, 1.15 * first.blur);
    EXPECT_NE(scanner.gain[0], scanner.gain[1]);
    EXPECT_NE(scanner.gamma, MakeScanner(1, i + 1).gamma);
  }
}

}  // namespace
}  // namespace segcal
