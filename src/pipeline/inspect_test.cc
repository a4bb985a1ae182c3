// SPDX-License-Identifier: Apache-2.0
#include "segcal/inspect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/support/errors.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;
using testing::TempFolder;
using testing::WriteScene;

RunOptions InspectOn(int threads) {
  RunOptions run;
  run.threads = threads;
  return run;
}

Scene SmallScene() {
  Scene scene = RandomScene({.num_cases = 2, .num_classes = 3, .shape = {45, 47}, .ignored = 0.2});
  scene.dataset.cases[1].split = "test";
  return scene;
}

DatasetSummary InspectScene(const Scene& scene, int threads = 2) {
  const TempFolder folder;
  return Inspect(WriteScene(scene, folder.path()), InspectOn(threads));
}

// Independent scalar twins of everything counted.
TEST(Inspect, CountsLabelsDecisionsAndAccuracy) {
  const Scene scene = SmallScene();
  const DatasetSummary summary = InspectScene(scene);
  std::vector<int64_t> labels(3), decisions(3);
  for (size_t i = 0; i < 2; ++i) {
    const std::vector<int32_t> best = testing::Argmax(scene.logits[i][0], 3);
    int64_t labelled = 0, correct = 0;
    for (size_t v = 0; v < best.size(); ++v) {
      ++decisions[static_cast<size_t>(best[v])];
      if (scene.labels[i][v] == 255) continue;
      ++labels[static_cast<size_t>(scene.labels[i][v])];
      ++labelled;
      correct += best[v] == scene.labels[i][v] ? 1 : 0;
    }
    EXPECT_EQ(summary.cases.at(i).labelled, labelled);
    EXPECT_EQ(summary.cases.at(i).accuracy,
              static_cast<double>(correct) / static_cast<double>(labelled));
  }
  EXPECT_EQ(summary.label_counts, labels);
  EXPECT_EQ(summary.decision_counts, decisions);
  EXPECT_EQ(summary.voxels, 2 * 45 * 47);
  EXPECT_EQ(summary.labelled, labels[0] + labels[1] + labels[2]);
  EXPECT_EQ(summary.cases[0].shape, (std::vector<int64_t>{45, 47}));
  EXPECT_EQ(summary.cases[0].dtype, "float32");
  EXPECT_EQ(summary.cases[1].split, "test");
  EXPECT_EQ(summary.repeated, 0);
}

TEST(Inspect, GivesTheFreeEnergyOverAllVoxels) {
  const Scene scene = SmallScene();
  const DatasetSummary summary = InspectScene(scene);
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (size_t i = 0; i < 2; ++i) {
    double sum = 0.0, squares = 0.0;
    for (size_t v = 0; v < n; ++v) {
      double exps = 0.0;
      for (size_t c = 0; c < 3; ++c)
        exps += std::exp(static_cast<double>(scene.logits[i][0][c * n + v]));
      sum += std::log(exps);
      squares += std::log(exps) * std::log(exps);
    }
    const double mean = sum / static_cast<double>(n);
    EXPECT_NEAR(summary.cases[i].free_energy_mean, mean, 1e-6);
    EXPECT_NEAR(summary.cases[i].free_energy_std,
                std::sqrt(squares / static_cast<double>(n) - mean * mean),
                1e-5);
  }
}

// Scalar twin: free energy of the mean of the first members, spread over voxels, then quartiles as
// NumPy's by linear interpolation, by hand for five cases: order statistics 1, 2 and 3.
TEST(Inspect, GivesTheSpreadOfTheFreeEnergyForEveryEnsembleSize) {
  const Scene scene = RandomScene(
      {.num_cases = 5, .num_members = 3, .num_classes = 4, .shape = {45, 47}, .ignored = 0.2});
  const DatasetSummary summary = InspectScene(scene);
  ASSERT_EQ(summary.free_energy.size(), 3u);
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (size_t m = 0; m < 3; ++m) {
    std::vector<double> spread;
    for (size_t i = 0; i < 5; ++i) {
      std::vector<double> values;
      for (size_t v = 0; v < n; ++v) {
        double exps = 0.0;
        for (size_t c = 0; c < 4; ++c) {
          double sum = 0.0;
          for (size_t k = 0; k <= m; ++k) sum += static_cast<double>(scene.logits[i][k][c * n + v]);
          exps += std::exp(sum / static_cast<double>(m + 1));
        }
        values.push_back(std::log(exps));
      }
      const double mean =
          std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
      double squares = 0.0;
      for (const double value : values) squares += (value - mean) * (value - mean);
      spread.push_back(std::sqrt(squares / static_cast<double>(n)));
      ASSERT_EQ(summary.cases[i].free_energy_std_by_size.size(), 3u);
      EXPECT_NEAR(summary.cases[i].free_energy_std_by_size[m], spread[i], 1e-6);
    }
    std::sort(spread.begin(), spread.end());
    const FreeEnergySpread& row = summary.free_energy[m];
    EXPECT_EQ(row.members, static_cast<int64_t>(m) + 1);
    EXPECT_EQ(row.cases, 5);
    EXPECT_NEAR(row.mean, std::accumulate(spread.begin(), spread.end(), 0.0) / 5.0, 1e-6);
    for (size_t k = 0; k < 3; ++k) EXPECT_NEAR(row.quartiles[k], spread[k + 1], 1e-6);
  }
  for (const CaseSummary& c : summary.cases)
    EXPECT_EQ(c.free_energy_std, c.free_energy_std_by_size.back());
}

TEST(Inspect, LeavesCasesWithoutAFreeEnergyOutOfItsSpread) {
  Scene scene = SmallScene();
  const auto n = static_cast<size_t>(scene.num_voxels());
  scene.masks = {std::vector<uint8_t>(n, 0), std::vector<uint8_t>(n, 1)};
  const DatasetSummary one = InspectScene(scene);
  EXPECT_TRUE(std::isnan(one.cases[0].free_energy_std));
  EXPECT_EQ(one.free_energy.at(0).cases, 1);
  for (const double q : one.free_energy[0].quartiles) EXPECT_EQ(q, one.cases[1].free_energy_std);
  scene.masks[1].assign(n, 0);
  const DatasetSummary none = InspectScene(scene);
  EXPECT_EQ(none.free_energy.at(0).cases, 0);
  EXPECT_TRUE(std::isnan(none.free_energy[0].mean));
  EXPECT_TRUE(std::isnan(none.free_energy[0].quartiles[1]));
}

TEST(Inspect, ShowsAConstantFill) {
  Scene scene = SmallScene();
  for (size_t c = 0; c < 3; ++c) {
    for (size_t v = 500; v < 1500; ++v) scene.logits[1][0][c * 2115 + v] = c == 0 ? 1.0f : 0.0f;
  }
  const DatasetSummary summary = InspectScene(scene);
  // Runs are looked for within tiles of 256: the ends of the fill may be too short to count.
  EXPECT_GE(summary.repeated, 1000 - 2 * 31);
  EXPECT_LE(summary.repeated, 1000);
  EXPECT_EQ(summary.repeated_example, (std::vector<double>{1.0, 0.0, 0.0}));
}

TEST(Inspect, CountsRenormalisedProbabilities) {
  Scene scene = RandomScene({.num_cases = 1, .num_classes = 2, .shape = {500}});
  scene.dataset.input = InputKind::kProbs;
  for (size_t v = 0; v < 500; ++v) {
    scene.logits[0][0][v] = 0.25f;
    scene.logits[0][0][500 + v] = v < 20 ? 0.7f : 0.75f;
  }
  EXPECT_EQ(InspectScene(scene).renormalised, 20);
}

// Rows are counted once, not again for every ensemble size.
TEST(Inspect, CountsRenormalisedRowsOfAnEnsembleOnce) {
  Scene scene = RandomScene({.num_cases = 1, .num_members = 3, .num_classes = 2, .shape = {500}});
  scene.dataset.input = InputKind::kProbs;
  for (auto& member : scene.logits[0]) {
    for (size_t v = 0; v < 500; ++v) {
      member[v] = 0.25f;
      member[500 + v] = v < 20 ? 0.7f : 0.75f;
    }
  }
  EXPECT_EQ(InspectScene(scene).renormalised, 60);
}

TEST(Inspect, TakesUnlabelledCases) {
  const TempFolder folder;
  Dataset dataset = WriteScene(SmallScene(), folder.path());
  dataset.cases[0].labels = {};
  const DatasetSummary summary = Inspect(dataset, InspectOn(1));
  EXPECT_EQ(summary.cases[0].labelled, 0);
  EXPECT_TRUE(std::isnan(summary.cases[0].accuracy));
  EXPECT_TRUE(std::isfinite(summary.cases[0].free_energy_std));
}

TEST(Inspect, DoesNotDependOnThreads) {
  const Scene scene = RandomScene({.num_cases = 3, .num_classes = 3, .shape = {130, 101}});
  const DatasetSummary one = InspectScene(scene, 1);
  for (const int threads : {2, 3}) {
    const DatasetSummary other = InspectScene(scene, threads);
    EXPECT_EQ(other.decision_counts, one.decision_counts);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(other.cases[i].free_energy_mean, one.cases[i].free_energy_mean);
      EXPECT_EQ(other.cases[i].free_energy_std, one.cases[i].free_energy_std);
    }
  }
}

// Optimised and identifiable numbers of [Kirscher26, Table 2], whose columns are C = 2, 5 and 20.
TEST(Methods, HaveTheParameterCountsOfThePaper) {
  struct PaperRow {
    const char* name;
    int64_t counts[3][2];
  };
  constexpr PaperRow kTable2[] = {
      {"ts", {{1, 1}, {1, 1}, {1, 1}}},
      {"ets", {{4, 3}, {4, 3}, {4, 3}}},
      {"ms", {{6, 3}, {30, 24}, {420, 399}}},
      {"ms_c", {{5, 2}, {26, 20}, {401, 380}}},
      {"dc", {{6, 3}, {30, 24}, {420, 399}}},
      {"lts", {{357, 357}, {882, 882}, {3507, 3507}}},
      {"cdc", {{12, 6}, {150, 120}, {8400, 7980}}},
      {"cms_ap", {{10, 4}, {130, 100}, {8020, 7600}}},
      {"cms_op", {{10, 4}, {130, 100}, {8020, 7600}}},
  };
  constexpr int64_t kClasses[] = {2, 5, 20};
  int compared = 0;
  for (size_t k = 0; k < 3; ++k) {
    for (const MethodSummary& method : Methods(kClasses[k])) {
      for (const PaperRow& row : kTable2) {
        if (method.name != row.name) continue;
        EXPECT_EQ(method.optimised, row.counts[k][0]) << row.name << ", C = " << kClasses[k];
        EXPECT_EQ(method.identifiable, row.counts[k][1]) << row.name << ", C = " << kClasses[k];
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 3);
  EXPECT_EQ(compared % 3, 0);
}

TEST(Methods, SayWhatTheyGuarantee) {
  int seen = 0;
  for (const MethodSummary& method : Methods(5)) {
    if (method.name != "none" && method.name != "ts") continue;
    EXPECT_TRUE(method.translation_invariant);
    EXPECT_EQ(method.preserves, Preserves::kOrder);
    EXPECT_EQ(method.optimised, method.name == "ts" ? 1 : 0);
    ++seen;
  }
  EXPECT_EQ(seen, 2);
}

TEST(Inspect, SkipsBadCasesWhenToldTo) {
  const TempFolder folder;
  Scene scene = SmallScene();
  scene.logits[0][0][100] = NAN;
  const Dataset dataset = WriteScene(scene, folder.path());
  testing::ExpectError(ErrorCode::kBadData, {"case0_m0.npy", "voxel (2, 6)"}, [&] {
    Inspect(dataset, InspectOn(2));
  });
  RunOptions run = InspectOn(2);
  run.skip_bad = true;
  const DatasetSummary summary = Inspect(dataset, run);
  EXPECT_EQ(summary.cases.size(), 1u);
  EXPECT_EQ(summary.skipped.size(), 1u);
}

}  // namespace
}  // namespace segcal
