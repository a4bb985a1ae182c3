// SPDX-License-Identifier: Apache-2.0
#include "segcal/parts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/rng.h"
#include "formats/array.h"
#include "parts/part_state.h"
#include "segcal/fit.h"
#include "tests/support/errors.h"
#include "tests/support/models.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::RandomScene;
using testing::TemperatureModel;
using testing::TempFolder;

constexpr int64_t kCases = 7;
constexpr int64_t kCounts[] = {1, 2, 3, 5, 11};

// Cases of a scene on disk, of unequal sizes in no order.
class Parts : public ::testing::Test {
 protected:
  Parts() {
    const testing::Scene scene = RandomScene(
        {.seed = 3, .num_cases = kCases, .num_members = 2, .num_classes = 3, .shape = {23, 31}});
    dataset_ = testing::WriteScene(scene, folder_.File("data"));
    dataset_.background = 0;
    models_ = {TemperatureModel(dataset_, 0.6), TemperatureModel(dataset_, 0.8, "p")};
  }

  // Part after part, by other threads, through bytes; then in another order.
  template <class Run>
  std::vector<PartState> InParts(int64_t count, const Run& run) const {
    std::vector<PartState> parts;
    for (int64_t i = 1; i <= count; ++i) {
      const PartState state = run(Part{i, count}, static_cast<int>(1 + i % 3));
      parts.push_back(PartState::FromBytes(state.ToBytes(), "part" + std::to_string(i)));
      EXPECT_EQ(parts.back().ToBytes(), state.ToBytes());
    }
    Rng rng(/*seed=*/static_cast<uint64_t>(count), /*stream=*/0);
    for (size_t i = parts.size(); i > 1; --i)
      std::swap(parts[i - 1], parts[static_cast<size_t>(rng.Below(static_cast<int64_t>(i)))]);
    return parts;
  }
  std::vector<PartState> Evaluated(int64_t count, EvaluateOptions options = {}) const {
    return InParts(count, [&](const Part& part, int threads) {
      options.run.threads = threads;
      return EvaluatePart(dataset_, models_, options, part);
    });
  }
  void ExpectEvaluatesAlike(const EvaluateOptions& options) const {
    const EvaluateResult whole = Evaluate(dataset_, models_, options);
    for (const int64_t count : kCounts) {
      const EvaluateResult merged = MergeEvaluate(Evaluated(count, options));
      EXPECT_EQ(ToJson(merged), ToJson(whole)) << count;
      EXPECT_EQ(ToCsv(merged), ToCsv(whole)) << count;
      EXPECT_EQ(CellsCsv(merged), CellsCsv(whole)) << count;
      EXPECT_EQ(merged.skipped, whole.skipped) << count;
    }
  }
  void ExpectInspectsAlike(const RunOptions& options) const {
    const DatasetSummary whole = Inspect(dataset_, options);
    for (const int64_t count : kCounts) {
      const DatasetSummary merged = MergeInspect(InParts(count, [&](const Part& part, int threads) {
        RunOptions run = options;
        run.threads = threads;
        return InspectPart(dataset_, run, part);
      }));
      EXPECT_EQ(ToJson(merged), ToJson(whole)) << count;
    }
  }

  TempFolder folder_;
  Dataset dataset_;
  std::vector<Model> models_;
};

TEST_F(Parts, EvaluateAsOneDoes) {
  EvaluateOptions options;
  options.families = {"all"};
  options.keep_cells = true;
  ExpectEvaluatesAlike(options);
}

TEST_F(Parts, EvaluateGroupsAsOneDoes) {
  for (size_t c = 1; c < kCases; ++c) dataset_.cases[c].group = c % 2 == 0 ? "even" : "odd";
  dataset_.cases[5].group.clear();
  ExpectEvaluatesAlike({});
}

// A group may lose all its cases, also the first one.
TEST_F(Parts, LeaveOutWhatOneLeavesOut) {
  dataset_.cases[0].group = "alone";
  dataset_.cases[0].labels = {};
  dataset_.cases[2].members[1] = "nowhere.npy";
  dataset_.cases[4].labels = {};
  dataset_.cases[6].members[0] = "nowhere.npy";
  EvaluateOptions options;
  options.run.skip_bad = true;
  ExpectEvaluatesAlike(options);
  ExpectInspectsAlike(options.run);
  for (Case& c : dataset_.cases) c.members[0] = "nowhere.npy";
  ExpectError(
      ErrorCode::kBadData, {"no case can be read"}, [&] { MergeEvaluate(Evaluated(3, options)); });
}

TEST_F(Parts, WarnAsOneDoes) {
  models_.push_back(Fit(dataset_, "ts(z)").model);
  const std::vector<float> zeros(23 * 31);
  SaveArray(folder_.File("zeros.npy"),
            {.dtype = DType::kF32, .shape = {23, 31}, .spacing = {}},
            zeros.data());
  dataset_.cases[3].mask = folder_.File("zeros.npy");
  ExpectEvaluatesAlike({});
  ExpectInspectsAlike({});
}

TEST_F(Parts, ApplyAsOneDoes) {
  ApplyOptions options;
  options.write = {"labels:nifti", "confidence"};
  const ApplyResult whole = Apply(models_[0], dataset_, folder_.File("whole"), options);
  for (const int64_t count : kCounts) {
    const std::string out = "out" + std::to_string(count);
    const ApplyResult merged = MergeApply(InParts(count, [&](const Part& part, int threads) {
      options.run.threads = threads;
      return ApplyPart(models_[0], dataset_, folder_.File(out), options, part);
    }));
    EXPECT_EQ(merged.voxels, whole.voxels);
    EXPECT_EQ(merged.warnings, whole.warnings);
    ASSERT_EQ(merged.files.size(), whole.files.size());
    for (size_t i = 0; i < merged.files.size(); ++i) {
      const std::string name = whole.files[i].substr(folder_.File("whole").size());
      EXPECT_EQ(merged.files[i], folder_.File(out) + name);
      EXPECT_EQ(folder_.Get(out + name), folder_.Get("whole" + name)) << name;
    }
  }
}

TEST_F(Parts, InspectAsOneDoes) { ExpectInspectsAlike({}); }

TEST_F(Parts, ThatAreMissingOrDoubledAreNamed) {
  std::vector<PartState> parts = Evaluated(5);
  parts.erase(
      std::remove_if(parts.begin(),
                     parts.end(),
                     [](const PartState& p) { return p.part().index == 2 || p.part().index == 4; }),
      parts.end());
  ExpectError(ErrorCode::kInvalidArgument, {"2 of 5 parts are missing: 2, 4"}, [&] {
    MergeEvaluate(parts);
  });
  parts.push_back(parts.front());
  const std::string name = "part " + std::to_string(parts.front().part().index) + " of 5";
  ExpectError(
      ErrorCode::kInvalidArgument, {name, "each is required once"}, [&] { MergeEvaluate(parts); });
  ExpectError(ErrorCode::kInvalidArgument, {"no part is named"}, [] { MergeEvaluate({}); });
}

TEST_F(Parts, OfAnotherJobAreNamed) {
  const PartState first = EvaluatePart(dataset_, models_, {}, {1, 2});
  const auto refuses = [&](const PartState& second, const std::string& why) {
    ExpectError(ErrorCode::kInvalidArgument, {"does not belong", why}, [&] {
      MergeEvaluate({first, second});
    });
  };
  refuses(EvaluatePart(dataset_, models_, {}, {2, 3}), "one of 3 parts, not of 2");
  refuses(EvaluatePart(dataset_, {models_[0]}, {}, {2, 2}), "other models");
  EvaluateOptions options;
  options.families = {"nll"};
  refuses(EvaluatePart(dataset_, models_, options, {2, 2}), "other options");
  refuses(InspectPart(dataset_, {}, {2, 2}), "a part of inspect, not of evaluate");
  Dataset other = dataset_;
  other.cases.pop_back();
  refuses(EvaluatePart(other, models_, {}, {2, 2}), "another data set");
  PartState::State old = EvaluatePart(dataset_, models_, {}, {2, 2}).state();
  old.identity.version = "0.0.9";
  refuses(PartState(std::make_shared<const PartState::State>(old)), "version 0.0.9");
  ExpectError(ErrorCode::kInvalidArgument, {"a part of evaluate, one of apply"}, [&] {
    MergeApply({first});
  });
}

TEST_F(Parts, OfSeveralInstructionSetsMergeWithAWarning) {
  PartState::State state = EvaluatePart(dataset_, models_, {}, {2, 2}).state();
  state.target = "ABACUS";
  const EvaluateResult merged =
      MergeEvaluate({EvaluatePart(dataset_, models_, {}, {1, 2}),
                     PartState(std::make_shared<const PartState::State>(state))});
  ASSERT_FALSE(merged.warnings.empty());
  EXPECT_NE(merged.warnings.back().find("ABACUS"), std::string::npos);
}

// Sums and values that do not fit their plan, under a checksum that does.
TEST_F(Parts, WhoseContentDoesNotFitAreRefused) {
  const PartState whole = EvaluatePart(dataset_, models_, {}, {1, 1});
  const auto refuses = [&](const std::function<void(PartState::State*)>& change) {
    PartState::State state = whole.state();
    change(&state);
    const PartState read = PartState::FromBytes(
        PartState(std::make_shared<const PartState::State>(state)).ToBytes(), "x");
    ExpectError(ErrorCode::kBadData, {}, [&] { MergeEvaluate({read}); });
  };
  using S = PartState::State;
  refuses([](S* s) { s->sums.pop_back(); });
  refuses([](S* s) { s->sums[0].pop_back(); });
  refuses([](S* s) { s->sums[0] += "x"; });
  refuses([](S* s) { s->case_ids[0] = "other"; });
  refuses([](S* s) { s->plan["classes"] = {"a"}; });
  refuses([](S* s) { s->plan["background"] = 17; });
  refuses([](S* s) { s->plan["pipelines"] = Json::array(); });
  refuses([](S* s) { s->plan["families"] = {"nll"}; });
  refuses([](S* s) { s->done["cases"][0]["known_to"] = {2}; });
  refuses([](S* s) { s->done["cases"][0]["id"] = "other"; });
  refuses([](S* s) { s->done["pipelines"][1]["cases"].erase(0); });
  refuses([](S* s) { s->done["pipelines"][0]["cases"][1]["metrics"].erase("nll"); });
  refuses([](S* s) { s->done["surprise"] = 1; });
}

TEST(PartState, OfWhatIsNotThereOrIsNoPartIsRefused) {
  const TempFolder folder;
  ExpectError(ErrorCode::kIo, {"nowhere"}, [&] { PartState::Load(folder.File("nowhere")); });
  folder.Put("text", "hello");
  ExpectError(ErrorCode::kBadData, {"text: is not the state of a part"}, [&] {
    PartState::Load(folder.File("text"));
  });
}

}  // namespace
}  // namespace segcal
