// SPDX-License-Identifier: Apache-2.0
#include "segcal/apply.h"

#include <gtest/gtest.h>

#include <cmath>

#include "formats/array.h"
#include "tests/support/errors.h"
#include "tests/support/models.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ApplyInMemory;
using testing::ExpectError;
using testing::RandomScene;
using testing::ReadFloats;
using testing::ReadHalves;
using testing::Scene;
using testing::TemperatureModel;
using testing::TempFolder;

// A scene on disk and a place for results.
struct OnDisk {
  explicit OnDisk(const Scene& s)
      : scene(s), dataset(testing::WriteScene(s, folder.File("data"))) {}

  ApplyResult Run(const Model& model, const ApplyOptions& options = {}) const {
    return Apply(model, dataset, folder.File("out"), options);
  }
  std::string Out(const std::string& name) const { return folder.File("out/" + name); }
  void ExpectRefused(const ApplyOptions& options,
                     ErrorCode code,
                     const std::vector<std::string>& parts) const {
    ExpectError(code, parts, [&] { Run(TemperatureModel(dataset, 0.7), options); });
  }

  TempFolder folder;
  Scene scene;
  Dataset dataset;
};

ApplyOptions Writing(const std::vector<std::string>& kinds) {
  ApplyOptions options;
  options.write = kinds;
  return options;
}

TEST(Apply, WritesTheBitsOfModelApply) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{97, 111}, {5, 33, 60}, {1, 1}, {257}}) {
    const OnDisk disk(
        RandomScene({.num_cases = 3, .num_members = 2, .num_classes = 3, .shape = shape}));
    for (const char* pooling : {"z", "p", "z1"}) {
      const Model model = TemperatureModel(disk.dataset, 0.7, pooling);
      const ApplyResult result = disk.Run(model);
      EXPECT_EQ(result.voxels, 3 * disk.scene.num_voxels());
      ASSERT_EQ(result.files.size(), 3u);
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(result.files[i], disk.Out("case" + std::to_string(i) + ".npy"));
        EXPECT_EQ(ReadFloats(result.files[i]), ApplyInMemory(model, disk.scene, i)) << pooling;
      }
    }
    std::vector<int64_t> expected = shape;
    expected.insert(expected.begin(), 3);
    EXPECT_EQ(OpenArray(disk.Out("case0.npy"))->info().shape, expected);
  }
}

TEST(Apply, WritesTheSameFilesForAnyNumberOfThreads) {
  const OnDisk disk(RandomScene({.num_cases = 3, .num_classes = 3, .shape = {97, 211}}));
  std::string expected;
  for (const int threads : {1, 2, 3}) {
    ApplyOptions options;
    options.run.threads = threads;
    disk.Run(TemperatureModel(disk.dataset, 0.7), options);
    const std::string bytes = disk.folder.Get("out/case0.npy") + disk.folder.Get("out/case2.npy");
    if (threads == 1) expected = bytes;
    EXPECT_TRUE(bytes == expected) << threads;
  }
}

// Rows that are equal, or differ by one step of their type, or by nothing a float can hold.
Scene NearTies() {
  Scene scene = RandomScene({.num_cases = 1, .num_classes = 5, .shape = {40, 50}, .scale = 0.01});
  const auto n = static_cast<size_t>(scene.num_voxels());
  const float levels[] = {0.0f, 1.0f, 0.333f, 1e-30f, -5.0f, 1e6f, -1e30f, 17.3f};
  for (size_t v = 0; v < n; ++v) {
    const float level = levels[v % 8];
    for (size_t c = 0; c < 5; ++c) scene.logits[0][0][c * n + v] = level;
    if (v / 8 % 3 == 0) continue;  // all equal: the lowest class wins
    float& winner = scene.logits[0][0][(v / 24 % 5) * n + v];
    winner = std::nextafter(level, 1e38f);
    if (v / 8 % 3 == 2) scene.logits[0][0][(v / 24 + 2) % 5 * n + v] = winner;  // two share the top
  }
  return scene;
}

class KeepsTheDecision : public ::testing::TestWithParam<double> {};

TEST_P(KeepsTheDecision, OnNearTiesInEveryOutputType) {
  const OnDisk disk(NearTies());
  const std::vector<int32_t> decision = testing::Argmax(disk.scene.logits[0][0], 5);
  const Model model = TemperatureModel(disk.dataset, GetParam());
  for (const DType dtype : {DType::kF32, DType::kF16}) {
    ApplyOptions options;
    options.dtype = dtype;
    disk.Run(model, options);
    const auto probs = dtype == DType::kF32 ? ReadFloats(disk.Out("case0.npy"))
                                            : ReadHalves(disk.Out("case0.npy"));
    const size_t n = decision.size();
    for (size_t v = 0; v < n; ++v) {
      const auto winner = static_cast<size_t>(decision[v]);
      for (size_t c = 0; c < 5; ++c) {
        // Strictly: no tie rule of a reader may choose another class.
        ASSERT_TRUE(c == winner || probs[c * n + v] < probs[winner * n + v])
            << Name(dtype) << " voxel " << v << " class " << c;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Apply,
                         KeepsTheDecision,
                         ::testing::Values(0.0, 1e-6, 0.3, 1.0, 50.0, 1e6));

TEST(Apply, RoundsFloat16ToTheNearestButForWinners) {
  const OnDisk disk(RandomScene({.num_cases = 1, .num_classes = 6, .shape = {60, 70}}));
  const Model model = TemperatureModel(disk.dataset, 0.4);
  ApplyOptions options;
  options.dtype = DType::kF16;
  disk.Run(model, options);
  const auto exact = ApplyInMemory(model, disk.scene, 0);
  const auto halves = ReadHalves(disk.Out("case0.npy"));
  const std::vector<int32_t> decision = testing::Argmax(disk.scene.logits[0][0], 6);
  for (size_t i = 0; i < exact.size(); ++i) {
    const double spacing = std::fmax(std::ldexp(1.0, std::ilogb(exact[i]) - 10), 0x1p-24);
    const bool winner = static_cast<int32_t>(i / decision.size()) == decision[i % decision.size()];
    // A winner goes at most one step above another class that was rounded up to it.
    const double steps = winner ? 1.5 : 0.5;
    ASSERT_NEAR(static_cast<double>(halves[i]), static_cast<double>(exact[i]), steps * spacing)
        << winner;
  }
}

TEST(Apply, LeavesMaskedVoxelsUncalibrated) {
  Scene scene = RandomScene({.num_cases = 1, .num_classes = 3, .shape = {50, 61}});
  scene.masks = {std::vector<uint8_t>(3050)};
  for (size_t v = 0; v < 3050; ++v) scene.masks[0][v] = v % 3 == 0 ? 1 : 0;
  const OnDisk disk(scene);
  const Model model = TemperatureModel(disk.dataset, 0.3);
  disk.Run(model);
  const auto found = ReadFloats(disk.Out("case0.npy"));
  const auto calibrated = ApplyInMemory(model, scene, 0);
  const auto plain = ApplyInMemory(TemperatureModel(disk.dataset, 1.0), scene, 0);
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i], i % 3050 % 3 == 0 ? calibrated[i] : plain[i]) << i;
  }
}

// Oracle: each map again from the written probabilities.
TEST(Apply, WritesMapsThatFollowFromTheProbabilities) {
  const OnDisk disk(
      RandomScene({.num_cases = 1, .num_classes = 4, .shape = {41, 53}, .ignored = 0.2}));
  disk.Run(TemperatureModel(disk.dataset, 0.6),
           Writing({"probabilities", "confidence", "labels", "entropy", "log_label"}));
  const auto probs = ReadFloats(disk.Out("probabilities/case0.npy"));
  const auto confidence = ReadFloats(disk.Out("confidence/case0.npy"));
  const auto entropy = ReadFloats(disk.Out("entropy/case0.npy"));
  const auto log_label = ReadFloats(disk.Out("log_label/case0.npy"));
  const auto labels = OpenArray(disk.Out("labels/case0.npy"));
  EXPECT_EQ(labels->info().dtype, DType::kU8);
  EXPECT_EQ(labels->info().shape, (std::vector<int64_t>{41, 53}));
  const std::vector<int32_t> best = testing::Argmax(probs, 4);
  const size_t n = best.size();
  std::vector<uint8_t> written(n);
  labels->Read(0, static_cast<int64_t>(n), written.data());
  for (size_t v = 0; v < n; ++v) {
    ASSERT_EQ(written[v], best[v]);
    ASSERT_EQ(confidence[v], probs[static_cast<size_t>(best[v]) * n + v]);
    double expected = 0.0;
    for (size_t c = 0; c < 4; ++c) {
      const double q = static_cast<double>(probs[c * n + v]);
      if (q > 0.0) expected -= q * std::log(q);
    }
    ASSERT_NEAR(static_cast<double>(entropy[v]), expected, 1e-6);
    const int32_t label = disk.scene.labels[0][v];
    const double of_label =
        label == 255 ? 0.0
                     : std::log(static_cast<double>(probs[static_cast<size_t>(label) * n + v]));
    ASSERT_NEAR(static_cast<double>(log_label[v]), of_label, 2e-6 * (1.0 + std::fabs(of_label)));
  }
}

TEST(Apply, WritesSeveralKindsToSubFoldersAndOneStraightAway) {
  const OnDisk disk(RandomScene({.num_cases = 2, .shape = {6, 7}}));
  const Model model = TemperatureModel(disk.dataset, 0.6);
  const ApplyResult two = disk.Run(model, Writing({"labels", "confidence"}));
  EXPECT_EQ(two.files,
            (std::vector<std::string>{disk.Out("labels/case0.npy"),
                                      disk.Out("confidence/case0.npy"),
                                      disk.Out("labels/case1.npy"),
                                      disk.Out("confidence/case1.npy")}));
  for (const std::string& file : two.files) EXPECT_TRUE(std::filesystem::exists(file)) << file;
  EXPECT_EQ(disk.Run(model, Writing({"labels"})).files.at(0), disk.Out("case0.npy"));
}

TEST(Apply, WritesEveryFormat) {
  const OnDisk disk(RandomScene({.num_cases = 1, .num_classes = 3, .shape = {20, 30}}));
  const Model model = TemperatureModel(disk.dataset, 0.6);
  const auto expected = ApplyInMemory(model, disk.scene, 0);
  const std::pair<const char*, const char*> formats[] = {
      {"npy", ".npy"}, {"npz", ".npz"}, {"nifti", ".nii.gz"}};
  for (const auto& [format, extension] : formats) {
    ApplyOptions options;
    options.format = format;
    EXPECT_EQ(disk.Run(model, options).files.at(0), disk.Out(std::string("case0") + extension));
    EXPECT_EQ(ReadFloats(disk.Out(std::string("case0") + extension)), expected) << format;
  }
}

// 65535 is confidence 1, log 3 nats of entropy; class indices are written as they are.
TEST(Apply, WritesPicturesOf16Bits) {
  const OnDisk disk(RandomScene({.num_cases = 1, .num_classes = 3, .shape = {20, 30}}));
  const Model model = TemperatureModel(disk.dataset, 0.6);
  ApplyOptions options = Writing({"confidence", "entropy", "labels"});
  disk.Run(model, options);
  options.format = "png";
  disk.Run(model, options);
  const std::pair<const char*, double> maps[] = {{"confidence", 65535.0},
                                                 {"entropy", 65535.0 / std::log(3.0)}};
  for (const auto& [kind, scale] : maps) {
    const auto values = ReadFloats(disk.Out(std::string(kind) + "/case0.npy"));
    const auto picture = OpenArray(disk.Out(std::string(kind) + "/case0.png"));
    ASSERT_EQ(picture->info().dtype, DType::kU16);
    std::vector<uint16_t> pixels(values.size());
    picture->Read(0, static_cast<int64_t>(pixels.size()), pixels.data());
    for (size_t v = 0; v < values.size(); ++v)
      ASSERT_EQ(pixels[v], std::lround(static_cast<double>(values[v]) * scale));
  }
  EXPECT_EQ(OpenArray(disk.Out("labels/case0.png"))->info().dtype, DType::kU8);
}

TEST(Apply, KeepsAwkwardCaseNamesInsideItsFolder) {
  Scene scene = RandomScene({.num_cases = 5, .shape = {4, 5}});
  const char* ids[] = {"...", "-rf *", "a b\n", "\u00e9%s{}", "..a\\..\\b"};
  for (size_t i = 0; i < 5; ++i) scene.dataset.cases[i].id = ids[i];
  const OnDisk disk(scene);
  const ApplyResult result = disk.Run(TemperatureModel(disk.dataset, 0.6));
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(result.files[i], disk.Out(std::string(ids[i]) + ".npy"));
    EXPECT_EQ(ReadFloats(result.files[i]).size(), 100u);
  }
  EXPECT_EQ(disk.folder.NumFiles(), 2u);
}

TEST(Apply, TakesTheCasesOfOneSplit) {
  Scene scene = RandomScene({.num_cases = 3, .shape = {4, 5}});
  scene.dataset.cases[1].split = "test";
  const OnDisk disk(scene);
  ApplyOptions options;
  options.split = "test";
  EXPECT_EQ(disk.Run(TemperatureModel(disk.dataset, 0.6), options).files,
            (std::vector<std::string>{disk.Out("case1.npy")}));
  options.split = "validation";
  disk.ExpectRefused(options, ErrorCode::kInvalidArgument, {"\"validation\"", "test"});
}

TEST(Apply, SaysWhatItCannotWrite) {
  const OnDisk disk(RandomScene({.num_cases = 1, .shape = {2, 4, 5}}));
  disk.ExpectRefused(Writing({"logits"}),
                     ErrorCode::kInvalidArgument,
                     {"\"logits\"", "probabilities, confidence"});
  disk.ExpectRefused(Writing({}), ErrorCode::kInvalidArgument, {"no output is named"});
  disk.ExpectRefused(
      Writing({"labels", "labels"}), ErrorCode::kInvalidArgument, {"\"labels\"", "twice"});
  ApplyOptions options;
  options.dtype = DType::kF64;
  disk.ExpectRefused(options, ErrorCode::kInvalidArgument, {"float64", "float16 or float32"});
  options = {};
  options.format = "tiff";
  disk.ExpectRefused(options, ErrorCode::kInvalidArgument, {"\"tiff\"", "npy, npz, nifti, png"});
  options.format = "png";
  disk.ExpectRefused(options,
                     ErrorCode::kInvalidArgument,
                     {"probabilities cannot be written as png", "npy, npz, nifti"});
  options.write = {"confidence"};
  disk.ExpectRefused(options,
                     ErrorCode::kInvalidArgument,
                     {"3 spatial axes", "png files have 2", "npy, npz, nifti"});
}

TEST(Apply, NeedsLabelsForTheirProbability) {
  OnDisk disk(RandomScene({.num_cases = 2, .shape = {4, 5}}));
  disk.dataset.cases[1].labels = {};
  disk.ExpectRefused(
      Writing({"log_label"}), ErrorCode::kBadData, {"case1", "no labels", "log_label"});
  EXPECT_NO_THROW(disk.Run(TemperatureModel(disk.dataset, 0.6), Writing({"entropy"})));
}

TEST(Apply, LeavesNoPartOfACaseThatFails) {
  Scene scene = RandomScene({.num_cases = 2, .num_classes = 2, .shape = {20000}});
  scene.logits[1][0][19000] = NAN;
  const OnDisk disk(scene);
  disk.ExpectRefused({}, ErrorCode::kBadData, {"case1_m0.npy", "voxel (19000)"});
  std::error_code gone;  // so is the folder, if it is empty
  for (const auto& file : std::filesystem::directory_iterator(disk.folder.File("out"), gone)) {
    EXPECT_EQ(file.path().filename(), "case0.npy");
  }
  ApplyOptions options;
  options.run.skip_bad = true;
  const ApplyResult result = disk.Run(TemperatureModel(disk.dataset, 0.7), options);
  EXPECT_EQ(result.files.size(), 1u);
  ASSERT_EQ(result.skipped.size(), 1u);
  EXPECT_EQ(result.skipped[0].find("case1: "), 0u);
}

TEST(Apply, WritesOverNoFileOfTheDataSet) {
  OnDisk disk(RandomScene({.num_cases = 2, .num_classes = 3, .shape = {4, 5}}));
  std::filesystem::create_directories(disk.folder.File("out"));
  // By another name of the same file.
  std::filesystem::create_hard_link(disk.folder.File("data/case1_m0.npy"), disk.Out("case1.npy"));
  const std::string before = disk.folder.Get("data/case1_m0.npy");
  disk.ExpectRefused({}, ErrorCode::kInvalidArgument, {"out/case1.npy", "is read", "option force"});
  EXPECT_EQ(disk.folder.Get("data/case1_m0.npy"), before);
  EXPECT_FALSE(std::filesystem::exists(disk.Out("case0.npy")));
  ApplyOptions options;
  options.force = true;
  EXPECT_NO_THROW(disk.Run(TemperatureModel(disk.dataset, 0.6), options));
}

TEST(Apply, RefusesAModelForOtherData) {
  const OnDisk disk(RandomScene({.num_cases = 1, .num_classes = 3, .shape = {4, 5}}));
  Dataset other = disk.dataset;
  other.classes[2] = "bus";
  ExpectError(ErrorCode::kBadData, {"\"bus\"", "\"class2\""}, [&] {
    disk.Run(TemperatureModel(other, 1.0));
  });
}

}  // namespace
}  // namespace segcal
