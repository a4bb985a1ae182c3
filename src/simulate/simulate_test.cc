// SPDX-License-Identifier: Apache-2.0
#include "segcal/simulate.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "core/file.h"
#include "core/half.h"
#include "core/json.h"
#include "formats/array.h"
#include "segcal/dataset.h"
#include "segcal/error.h"

namespace segcal {
namespace {

namespace fs = std::filesystem;

class SimulateTest : public ::testing::Test {
 protected:
  SimulateTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = ::testing::TempDir() + "segcal_" + test->name() + "_" + std::to_string(::getpid());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~SimulateTest() override { fs::remove_all(root_); }

  std::string Path(const std::string& name) const { return root_ + "/" + name; }

 private:
  std::string root_;
};

SimulateOptions SmallOptions() {
  SimulateOptions options;
  options.num_cases = 2;
  options.num_members = 2;
  options.num_classes = 4;
  options.size = {40, 60};
  return options;
}

std::vector<double> ReadValues(const std::string& path) {
  const auto array = OpenArray(path);
  const int64_t n = array->info().NumElements();
  std::vector<double> values;
  const auto read = [&](auto zero, auto convert) {
    std::vector<decltype(zero)> raw(static_cast<size_t>(n));
    array->Read(0, n, raw.data());
    for (const auto x : raw) values.push_back(static_cast<double>(convert(x)));
  };
  const auto same = [](auto x) { return x; };
  if (array->info().dtype == DType::kF16) read(uint16_t{0}, &FloatFromHalf);
  if (array->info().dtype == DType::kF32) read(0.0f, same);
  if (array->info().dtype == DType::kU8) read(uint8_t{0}, same);
  EXPECT_FALSE(values.empty()) << path;
  return values;
}

// Every file below a folder with its bytes.
std::map<std::string, std::string> Contents(const std::string& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    contents[path.substr(folder.size())] = ReadText(path, int64_t{1} << 30);
  }
  return contents;
}

// Mean over members of what the files hold, as logits.
std::vector<double> PooledFromFiles(const Dataset& dataset, const Case& c) {
  std::vector<double> pooled;
  for (const ArraySource& member : c.members) {
    const std::vector<double> values = ReadValues(dataset.folder + "/" + member.path());
    pooled.resize(values.size(), 0.0);
    for (size_t i = 0; i < values.size(); ++i) {
      pooled[i] += values[i] / static_cast<double>(c.members.size());
    }
  }
  return pooled;
}

TEST_F(SimulateTest, StoredTruthIsTheMapOfTheStoredLogits) {
  for (const DType dtype : {DType::kF16, DType::kF32}) {
    SimulateOptions options = SmallOptions();
    options.dtype = dtype;
    Simulate(Path(Name(dtype)), options);
    const Dataset dataset = LoadDataset(Path(Name(dtype)));
    const size_t n = 40 * 60;
    for (const Case& c : dataset.cases) {
      const std::vector<double> pooled = PooledFromFiles(dataset, c);
      const std::vector<double> eta = ReadValues(Path(Name(dtype)) + "/truth/" + c.id + ".npy");
      ASSERT_EQ(eta.size(), 4 * n);
      for (size_t v = 0; v < n; ++v) {
        double sum = 0.0;
        for (size_t k = 0; k < 4; ++k) sum += std::exp(pooled[k * n + v] / options.temperature);
        for (size_t k = 0; k < 4; ++k) {
          const double expected = std::exp(pooled[k * n + v] / options.temperature) / sum;
          ASSERT_NEAR(eta[k * n + v], expected, 1e-7) << "voxel " << v;
        }
      }
    }
  }
}

// The posterior is stored in float32: relative error 2^-24 per voxel.
TEST_F(SimulateTest, TruthFileHoldsTheNllOfTheStoredPosterior) {
  const SimulateSummary summary = Simulate(Path("data"), SmallOptions());
  const Json truth = ReadJson(Path("data/truth.json"));
  const Dataset dataset = LoadDataset(Path("data"));
  double total = 0.0;
  int64_t labelled = 0;
  for (size_t i = 0; i < dataset.cases.size(); ++i) {
    const std::vector<double> eta = ReadValues(Path("data/truth/") + dataset.cases[i].id + ".npy");
    const std::vector<double> labels = ReadValues(Path("data/") + dataset.cases[i].labels.path());
    double sum = 0.0;
    for (size_t v = 0; v < labels.size(); ++v) {
      if (labels[v] == 255.0) continue;
      sum -= std::log(eta[static_cast<size_t>(labels[v]) * labels.size() + v]);
      ++labelled;
    }
    EXPECT_NEAR(truth["cases"][i]["nll_sum"].get<double>(), sum, 1e-3);
    total += sum;
  }
  EXPECT_EQ(truth["total"]["labelled"].get<int64_t>(), labelled);
  EXPECT_LT(labelled, 2 * 40 * 60);
  EXPECT_NEAR(summary.true_nll, total / static_cast<double>(labelled), 1e-6);
  EXPECT_EQ(truth["map"]["kind"], "temperature");
  EXPECT_EQ(truth["map"]["parameters"]["temperature"], 1.8);
}

TEST_F(SimulateTest, FilesDoNotDependOnTheNumberOfThreads) {
  for (const char* map : {"affine", "temperature_field"}) {
    SimulateOptions options = SmallOptions();
    options.true_map = map;
    options.correlation = 3.0;
    const std::string name = map;
    options.threads = 1;
    Simulate(Path(name + "1"), options);
    options.threads = 3;
    Simulate(Path(name + "3"), options);
    EXPECT_EQ(Contents(Path(name + "1")), Contents(Path(name + "3")));
    options.seed = 2;
    Simulate(Path(name + "other"), options);
    EXPECT_NE(Contents(Path(name + "1")), Contents(Path(name + "other")));
  }
}

// With independent labels the mean NLL differs from the mean entropy by a mean of n independent
// terms of mean zero. Their variance is below E[log^2 eta_y], here below 1.5.
TEST_F(SimulateTest, NllOfTheTruthIsItsEntropyForEveryTrueMap) {
  for (const std::string& map : SimulateTrueMaps()) {
    SimulateOptions options = SmallOptions();
    options.true_map = map;
    options.size = {150, 200};
    const SimulateSummary summary = Simulate(Path(map), options);
    const double sigma = std::sqrt(1.5 / static_cast<double>(summary.num_labelled));
    EXPECT_NEAR(summary.true_nll, summary.true_entropy, 4.0 * sigma) << map;
    if (map == "identity") {
      EXPECT_NEAR(summary.stored_nll, summary.true_nll, 1e-9);
      EXPECT_NEAR(summary.stored_confidence, summary.stored_accuracy, 0.01);
    } else {
      EXPECT_GT(summary.stored_nll, summary.true_nll + 0.01) << map;
    }
  }
}

struct Realistic {
  const char* preset;
  double lowest_accuracy;
  double highest_accuracy;
  double least_gap;  // of mean confidence over accuracy
};

TEST_F(SimulateTest, PresetsAreAsHardAndAsOverconfidentAsRealNetworks) {
  const Realistic expected[] = {
      {"street", 0.85, 0.92, 0.03}, {"brain", 0.96, 0.99, 0.005}, {"roads", 0.93, 0.97, 0.01}};
  for (const Realistic& real : expected) {
    SimulateOptions options;
    options.preset = real.preset;
    options.num_cases = 1;
    const SimulateSummary summary = Simulate(Path(real.preset), options);
    EXPECT_GT(summary.stored_accuracy, real.lowest_accuracy) << real.preset;
    EXPECT_LT(summary.stored_accuracy, real.highest_accuracy) << real.preset;
    EXPECT_GT(summary.stored_confidence - summary.stored_accuracy, real.least_gap) << real.preset;
  }
}

TEST_F(SimulateTest, WritesADataSetThatNamesItsFiles) {
  SimulateOptions options = SmallOptions();
  options.num_cases = 10;
  options.size = {8, 9};
  Simulate(Path("street"), options);
  const Dataset dataset = LoadDataset(Path("street"));
  EXPECT_EQ(dataset.classes, (std::vector<std::string>{"building", "road", "sky", "tree"}));
  EXPECT_EQ(dataset.ignore_label, 255);
  std::map<std::string, int> splits;
  for (const Case& c : dataset.cases) {
    ++splits[c.split];
    for (const std::string& file :
         {c.members[0].path(), c.members[1].path(), c.labels.path(), c.image.path()}) {
      EXPECT_TRUE(fs::exists(dataset.folder + "/" + file)) << file;
    }
    EXPECT_EQ(OpenArray(dataset.folder + "/" + c.image.path())->info().shape,
              (std::vector<int64_t>{8, 9, 3}));
  }
  EXPECT_EQ(splits,
            (std::map<std::string, int>{{"calibration", 5}, {"validation", 2}, {"test", 3}}));
}

TEST_F(SimulateTest, VolumesHaveLabelsWithSpacingAndNoImage) {
  SimulateOptions options;
  options.preset = "brain";
  options.num_cases = 1;
  options.size = {6, 10, 12};
  options.input = InputKind::kProbs;
  options.splits = {};
  Simulate(Path("brain"), options);
  const Dataset dataset = LoadDataset(Path("brain"));
  const Case& c = dataset.cases.at(0);
  EXPECT_TRUE(c.image.empty());
  EXPECT_EQ(c.split, "");
  EXPECT_EQ(dataset.input, InputKind::kProbs);
  EXPECT_EQ(dataset.ignore_label, std::nullopt);
  const ArrayInfo labels = OpenArray(dataset.folder + "/" + c.labels.path())->info();
  EXPECT_EQ(labels.shape, options.size);
  EXPECT_EQ(labels.spacing, (std::vector<double>{3.0, 2.0, 2.0}));
}

// Patches of about 3 x 3 pixels: 120 x 160 pixels hold thousands, so their share is within 0.05.
TEST_F(SimulateTest, IgnoresTheAskedFraction) {
  SimulateOptions options = SmallOptions();
  options.size = {120, 160};
  options.ignore_fraction = 0.4;
  const SimulateSummary summary = Simulate(Path("data"), options);
  const auto voxels = static_cast<double>(summary.num_voxels);
  EXPECT_NEAR(static_cast<double>(summary.num_labelled) / voxels, 0.6, 0.05);
}

TEST_F(SimulateTest, OneVoxelAndOneClassWork) {
  SimulateOptions options;
  options.num_cases = 1;
  options.num_classes = 1;
  options.size = {1, 1};
  options.ignore_fraction = 0.0;
  const SimulateSummary summary = Simulate(Path("data"), options);
  EXPECT_EQ(summary.num_labelled, 1);
  EXPECT_EQ(summary.true_nll, 0.0);
  EXPECT_EQ(summary.stored_accuracy, 1.0);
}

TEST_F(SimulateTest, RefusesAFolderThatIsNotEmpty) {
  fs::create_directories(Path("full/old"));
  try {
    Simulate(Path("full"), SmallOptions());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_NE(std::string(error.what()).find(Path("full")), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(Path("full/dataset.json")));
}

TEST_F(SimulateTest, ReportsProgressUpToTheEnd) {
  std::vector<int64_t> done;
  int64_t total = 0;
  const auto listen = [&](const Progress& progress) {
    if (progress.stage.empty()) return;
    done.push_back(progress.done);
    total = progress.total;
  };
  Simulate(Path("data"), SmallOptions(), ListenOnly(listen));
  ASSERT_GE(done.size(), 2u);
  EXPECT_EQ(done.front(), 0);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), 4800);
  EXPECT_EQ(total, 4800);
}

}  // namespace
}  // namespace segcal
