// SPDX-License-Identifier: Apache-2.0
// Long calls can be stopped at any time: they end in an Error, leave nothing half-written, and the
// next call works as if nothing had happened.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "core/progress.h"
#include "segcal/segcal.h"
#include "tests/conformance/method_test.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::ReadFloats;
using testing::Scene;
using testing::TempFolder;
using testing::WriteScene;

using LongCall = std::function<void(const ProgressCallback& progress)>;

int64_t CountCalls(const LongCall& call) {
  int64_t calls = 0;
  call(ListenOnly([&](const Progress&) { ++calls; }));
  return calls;
}

// Asks to stop at the n-th turn. Waits are told too, so a slow machine has more turns than a fast
// one; whoever asked must be heard, and nobody else.
void ExpectStopAt(int64_t n, const LongCall& call) {
  int64_t calls = 0;
  bool stopped = false;
  try {
    call([&](const Progress&) { return ++calls < n; });
  } catch (const Error& error) {
    stopped = true;
    EXPECT_EQ(error.code(), ErrorCode::kCancelled) << error.what();
  }
  EXPECT_EQ(stopped, calls >= n) << "turn " << n;
  EXPECT_LE(calls, n) << "called again after it asked to stop";
}

void ExpectStops(
    const LongCall& call, const std::function<void()>& check = [] {}) {
  const int64_t calls = CountCalls(call);
  ASSERT_GE(calls, 2);
  for (const int64_t n : {int64_t{1}, (calls + 1) / 2, calls}) {
    ExpectStopAt(n, call);
    check();
  }
}

class EveryFit : public testing::MethodTest {};

TEST_P(EveryFit, StopsAndWorksAgain) {
  const Scene scene = MakeScene({.num_cases = 3, .num_classes = 3, .shape = {25, 30}});
  const std::string expected = FitTo(scene).ToJson();
  ExpectStops(
      [&](const ProgressCallback& progress) {
        const ProgressScope scope(progress);
        FitTo(scene);
      },
      [&] { EXPECT_EQ(FitTo(scene).ToJson(), expected); });
}

INSTANTIATE_TEST_SUITE_P(List, EveryFit, ::testing::ValuesIn(Calibrators()), [](const auto& test) {
  return std::string(test.param->name);
});

// Searches pass over parts of the data that show no progress of their own.
TEST(Cancel, StopsASearchByCrossValidation) {
  const TempFolder folder;
  const Dataset dataset =
      WriteScene(RandomScene({.num_cases = 6, .num_classes = 3, .shape = {25, 30}}), folder.path());
  ExpectStops([&](const ProgressCallback& progress) {
    FitOptions options;
    options.search = 3;
    options.run.progress = progress;
    Fit(dataset, "dc(z)", options);
  });
}

TEST(Cancel, KeepsTheEpochsOfATraining) {
  const TempFolder folder;
  const Dataset dataset = WriteScene(
      RandomScene({.num_cases = 4, .num_classes = 3, .shape = {25, 30}}), folder.File("data"));
  FitOptions options;
  options.run.threads = 2;
  const char* pipeline = "selective(z, epochs=8)";
  const std::string expected = Fit(dataset, pipeline, options).model.ToJson();
  options.checkpoint = folder.File("model.part");
  options.run.progress = [](const Progress& progress) {
    return progress.detail.empty() || progress.done < 3;
  };
  EXPECT_THROW(Fit(dataset, pipeline, options), Error);
  ASSERT_TRUE(std::filesystem::exists(options.checkpoint));
  options.resume = true;
  int64_t first = -1;
  options.run.progress = ListenOnly([&](const Progress& progress) {
    if (first < 0 && !progress.detail.empty()) first = progress.done;
  });
  EXPECT_EQ(Fit(dataset, pipeline, options).model.ToJson(), expected);
  EXPECT_EQ(first, 3);
}

class CancelOnFiles : public ::testing::Test {
 protected:
  const TempFolder folder_;
  const Dataset dataset_ = WriteScene(
      RandomScene({.num_cases = 5, .num_classes = 3, .shape = {60, 70}}), folder_.File("data"));
  const Model model_ = Baseline(dataset_, "none(z)");
};

TEST_F(CancelOnFiles, ApplyLeavesCompleteFilesOnly) {
  ApplyOptions options;
  options.run.threads = 2;
  const ApplyResult whole = Apply(model_, dataset_, folder_.File("whole"), options);
  const std::string out = folder_.File("out");
  const auto check = [&] {
    for (const auto& entry : std::filesystem::directory_iterator(out)) {
      const std::string name = entry.path().filename().string();
      EXPECT_EQ(ReadFloats(entry.path().string()), ReadFloats(folder_.File("whole/" + name)));
    }
    std::filesystem::remove_all(out);
  };
  ExpectStops(
      [&](const ProgressCallback& progress) {
        options.run.progress = progress;
        Apply(model_, dataset_, out, options);
      },
      check);
  options.run.progress = {};
  EXPECT_EQ(Apply(model_, dataset_, out, options).files.size(), whole.files.size());
}

TEST_F(CancelOnFiles, EvaluateStopsAndWorksAgain) {
  EvaluateOptions options;
  options.families = {"all"};
  options.run.threads = 2;
  const std::string expected = ToJson(Evaluate(dataset_, {model_}, options));
  ExpectStops([&](const ProgressCallback& progress) {
    options.run.progress = progress;
    Evaluate(dataset_, {model_}, options);
  });
  options.run.progress = {};
  EXPECT_EQ(ToJson(Evaluate(dataset_, {model_}, options)), expected);
}

TEST_F(CancelOnFiles, StatisticsStop) {
  const EvaluateResult result = Evaluate(dataset_, {model_, Baseline(dataset_, "none(p)")});
  ExpectStops([&](const ProgressCallback& progress) {
    ComputeStatistics({&result, 1}, {}, progress);
  });
}

TEST_F(CancelOnFiles, InspectStops) {
  ExpectStops([&](const ProgressCallback& progress) {
    RunOptions options;
    options.progress = progress;
    Inspect(dataset_, options);
  });
}

// Leaving out bad cases must not take a stop for a bad case.
TEST_F(CancelOnFiles, StopsWhileBadCasesAreLookedFor) {
  ExpectStops([&](const ProgressCallback& progress) {
    RunOptions options;
    options.skip_bad = true;
    options.progress = progress;
    Inspect(dataset_, options);
  });
}

TEST_F(CancelOnFiles, VerifyStops) {
  ExpectStops([&](const ProgressCallback& progress) {
    VerifyOptions options;
    options.voxels = 40000;
    options.run.progress = progress;
    Verify(model_, dataset_, options);
  });
}

TEST_F(CancelOnFiles, SimulateLeavesAnEmptyFolder) {
  const std::string out = folder_.File("simulated");
  SimulateOptions options;
  options.num_cases = 3;
  options.size = {20, 30};
  ExpectStops(
      [&](const ProgressCallback& progress) {
        Simulate(out, options, progress);
        std::filesystem::remove_all(out);
      },
      [&] { EXPECT_TRUE(!std::filesystem::exists(out) || std::filesystem::is_empty(out)); });
  EXPECT_NO_THROW(Simulate(out, options));
}

}  // namespace
}  // namespace segcal
