// SPDX-License-Identifier: Apache-2.0
#include "results/fit_report_json.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pipeline/fit.h"
#include "results/round_trip_for_test.h"
#include "tests/support/models.h"

namespace segcal {

auto Fields(const Certificate& x) {
  const auto& [gradient, newton_decrement, bounded, voxels, gap, path] = x;
  return std::tie(gradient, newton_decrement, bounded, voxels, gap, path);
}
auto Fields(const SearchTrial& x) {
  const auto& [options, validation_nll, epochs, pruned] = x;
  return std::tie(options, validation_nll, epochs, pruned);
}
auto Fields(const SearchReport& x) {
  const auto& [trials, chosen, passes, select] = x;
  return std::tie(trials, chosen, passes, select);
}
auto Fields(const TrainEpoch& x) {
  const auto& [learning_rate, training_loss, validation_loss] = x;
  return std::tie(learning_rate, training_loss, validation_loss);
}
auto Fields(const TrainingReport& x) {
  const auto& [epochs, best, stopped_by, voxels, validation, identity, start, nll, total, history] =
      x;
  return std::tie(
      epochs, best, stopped_by, voxels, validation, identity, start, nll, total, history);
}
auto Fields(const FitOutcome& x) {
  const auto& [solver, status, passes, nll, certificates, warnings, search, training, figures] = x;
  return std::tie(solver, status, passes, nll, certificates, warnings, search, training, figures);
}
auto Fields(const FittedData& x) {
  const auto& [name, cases, voxels, labelled, hash, members, case_hashes] = x;
  return std::tie(name, cases, voxels, labelled, hash, members, case_hashes);
}
auto Fields(const FitReport& x) {
  return std::tie(static_cast<const FitOutcome&>(x), x.data, x.identity, x.nll_before);
}

namespace {

using testing::ExpectRoundTrip;
using testing::ExpectStrict;
using testing::RandomScene;
using testing::Scene;

// Every field is other than its default, and numbers are such as JSON does not have.
FitReport FullReport() {
  FitReport report;
  report.solver = "by \"hand\"";
  report.status = FitStatus::kUnbounded;
  report.passes = 7;
  report.nll_after = std::nan("");
  report.certificates = {{.gradient = HUGE_VAL,
                          .newton_decrement = -0.0,
                          .bounded = false,
                          .voxels = int64_t{1} << 60,
                          .gap = 1e-300,
                          .path = {1.0 / 3.0, std::nan(""), -HUGE_VAL}},
                         {}};
  report.warnings = {"one", ""};
  report.search = {.trials = {{.options = {{"kappa", "1e-3"}},
                               .validation_nll = 0.5,
                               .epochs = 3,
                               .pruned = true},
                              {}},
                   .chosen = {{"kappa", "1e-3"}, {"mu", "0"}},
                   .passes = 11,
                   .select = Selection::kFolds};
  report.training = {
      .epochs = 2,
      .best_epoch = 1,
      .stopped_by = TrainStop::kNotFinite,
      .voxels = 100,
      .validation_voxels = 50,
      .identity_nll = 0.7,
      .start_nll = 0.6,
      .validation_nll = 0.5,
      .total_epochs = 9,
      .history = {
          {.learning_rate = 0.01, .training_loss = HUGE_VAL, .validation_loss = std::nan("")}, {}}};
  report.figures = {{"recall", 0.25}, {"nothing", std::nan("")}};
  report.data = {.name = "çase",
                 .cases = 3,
                 .voxels = INT64_MAX,
                 .labelled = 4,
                 .hash = 0xFEDCBA9876543210u,
                 .members = 5,
                 .case_hashes = {1, 0, UINT64_MAX}};
  report.identity = 0x0123456789ABCDEFu;
  report.nll_before = 1.0 / 7.0;
  return report;
}

TEST(FitReportJson, ReadsBackWhateverAFieldHolds) {
  ExpectRoundTrip(FullReport(), FitReportFromJson);
  ExpectRoundTrip(FitReport{}, FitReportFromJson);
  FitReport early;  // a training that ended before its first epoch did
  early.training.stopped_by = TrainStop::kNotFinite;
  early.training.voxels = 5;
  early.training.identity_nll = 0.5;
  ExpectRoundTrip(early, FitReportFromJson);
}

TEST(FitReportJson, ReadsBackTheReportsOfRealFits) {
  const Scene scene = RandomScene({.num_cases = 3, .num_classes = 3, .shape = {20, 24}});
  for (const char* pipeline : {"none(z)",
                               "ts(z)",
                               "ets(p)",
                               "ms(z, kappa=0)",
                               "cms_ap(p)",
                               "irm(z)",
                               "meta(z)",
                               "lts(z, epochs=3)",
                               "selective+ts(z, selective.epochs=3)"}) {
    SCOPED_TRACE(pipeline);
    const Model model = testing::FitAs(pipeline, scene);
    ExpectRoundTrip(model.report(), FitReportFromJson);
    EXPECT_TRUE(testing::Same(Model::FromJson(model.ToJson()).report(), model.report()));
  }
}

TEST(FitReportJson, ReadsBackASearch) {
  const Scene scene = RandomScene({.num_cases = 3, .num_classes = 3, .shape = {20, 24}});
  const auto validation = scene.Stream(2);
  for (const char* pipeline : {"dc(z)", "lts(z, epochs=2)"}) {
    const Model model = FitStream(*scene.Stream(2),
                                  ParsePipeline(pipeline),
                                  /*seed=*/1,
                                  {.trials = 3, .validation = validation.get()});
    EXPECT_EQ(model.report().search.trials.size(), 3u) << pipeline;
    ExpectRoundTrip(model.report(), FitReportFromJson);
  }
}

TEST(FitReportJson, IsTheObjectOfTheModelFileWithAVersion) {
  const FitReport report = FullReport();
  Json json = ParseJson(ToJson(report), "text");
  EXPECT_EQ(json["segcal_fit_report"], 1);
  json.erase("segcal_fit_report");
  EXPECT_EQ(DumpJson(json), DumpJson(FitReportToJson(report)));
}

TEST(FitReportJson, RefusesAnythingElse) {
  ExpectStrict(FullReport(),
               FitReportFromJson,
               "segcal_fit_report",
               {"/data",
                "/data/hash",
                "/nll_before",
                "/nll_after",
                "/solver",
                "/status",
                "/passes",
                "/certificates",
                "/certificates/0/path",
                "/search/trials",
                "/search/trials/0/validation_nll",
                "/search/chosen",
                "/training/stopped_by",
                "/training/history/training_loss",
                "/warnings"});
}

}  // namespace
}  // namespace segcal
