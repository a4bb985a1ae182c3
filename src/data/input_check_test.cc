// SPDX-License-Identifier: Apache-2.0
#include "data/input_check.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/errors.h"
#include "tests/support/scene_files.h"

namespace segcal {
namespace {

using testing::ExpectError;
using testing::RandomScene;
using testing::Scene;

Scene SmallScene(int64_t num_members = 1) {
  return RandomScene(
      {.num_cases = 1, .num_members = num_members, .num_classes = 4, .shape = {40, 50}});
}

// Every row of a member replaced by its softmax, or the logarithm of that.
void Normalise(std::vector<float>* member, bool logarithm) {
  const size_t n = member->size() / 4;
  for (size_t v = 0; v < n; ++v) {
    double sum = 0.0;
    for (size_t c = 0; c < 4; ++c) sum += std::exp(static_cast<double>((*member)[c * n + v]));
    for (size_t c = 0; c < 4; ++c) {
      const double z = static_cast<double>((*member)[c * n + v]);
      (*member)[c * n + v] = static_cast<float>(logarithm ? z - std::log(sum) : std::exp(z) / sum);
    }
  }
}

void FillOneHot(std::vector<float>* member, size_t begin, size_t end) {
  const size_t n = member->size() / 4;
  for (size_t c = 0; c < 4; ++c) {
    for (size_t v = begin; v < end; ++v) (*member)[c * n + v] = c == 0 ? 1.0f : 0.0f;
  }
}

// Calls use(reader) for the first case of a scene.
template <class Use>
void WithReader(const Scene& scene, Dataset dataset, DType dtype, bool last, const Use& use) {
  dataset.layout = last ? Layout::kChannelsLast : Layout::kChannelsFirst;
  ArrayInfo info{.dtype = dtype, .shape = scene.shape, .spacing = {}};
  info.shape.insert(last ? info.shape.end() : info.shape.begin(), dataset.num_classes());
  std::vector<std::vector<std::byte>> bytes;
  for (const auto& member : scene.logits[0]) {
    bytes.push_back(testing::ConvertTo(
        dtype, last ? testing::ChannelsLast(member, dataset.num_classes()) : member));
  }
  std::vector<std::shared_ptr<const Array>> members;
  for (size_t m = 0; m < bytes.size(); ++m) {
    members.push_back(
        ArrayOverMemory("member" + std::to_string(m) + ".npy", info, bytes[m].data()));
  }
  use(CaseReader(dataset, dataset.cases[0], std::move(members), nullptr, nullptr));
}

void Check(const Scene& scene, InputKind input, DType dtype = DType::kF32, bool last = false) {
  Dataset dataset = scene.dataset;
  dataset.input = input;
  WithReader(scene, dataset, dtype, last, CheckInputKind);
}

std::vector<int64_t> Constant(const Scene& scene, DType dtype = DType::kF32, bool last = false) {
  std::vector<int64_t> found;
  WithReader(scene, scene.dataset, dtype, last, [&](const CaseReader& reader) {
    found = FindConstantMembers(reader);
  });
  return found;
}

TEST(FindConstantMembers, NamesThoseThatAreTheSameEverywhere) {
  Scene scene = SmallScene(3);
  EXPECT_EQ(Constant(scene), std::vector<int64_t>());
  FillOneHot(&scene.logits[0][1], 0, 2000);
  for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64}) {
    for (const bool last : {false, true})
      EXPECT_EQ(Constant(scene, dtype, last), std::vector<int64_t>{1});
  }
  // Between the stretches that are looked at first.
  scene.logits[0][1][3 * 2000 + 130] = 0.5f;
  EXPECT_EQ(Constant(scene), std::vector<int64_t>());
}

TEST(CheckInputKind, TakesLogitsAsLogits) {
  EXPECT_NO_THROW(Check(SmallScene(), InputKind::kLogits));
}

TEST(CheckInputKind, RefusesProbabilitiesThatAreCalledLogits) {
  Scene scene = SmallScene();
  Normalise(&scene.logits[0][0], false);
  for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64}) {
    for (const bool last : {false, true}) {
      ExpectError(ErrorCode::kBadData, {"member0.npy", "\"input\": \"probabilities\""}, [&] {
        Check(scene, InputKind::kLogits, dtype, last);
      });
    }
  }
  EXPECT_NO_THROW(Check(scene, InputKind::kProbs));
}

TEST(CheckInputKind, LooksAtEveryMember) {
  Scene scene = SmallScene(3);
  Normalise(&scene.logits[0][2], false);
  ExpectError(ErrorCode::kBadData, {"member2.npy"}, [&] { Check(scene, InputKind::kLogits); });
}

// A fill of (1, 0, ..., 0) looks like a distribution and is none.
TEST(CheckInputKind, TakesLogitsWithAConstantFill) {
  Scene scene = SmallScene();
  FillOneHot(&scene.logits[0][0], 0, 1500);
  EXPECT_NO_THROW(Check(scene, InputKind::kLogits));
  FillOneHot(&scene.logits[0][0], 0, 2000);
  EXPECT_NO_THROW(Check(scene, InputKind::kLogits));
}

TEST(CheckInputKind, RefusesFilledProbabilitiesThatAreCalledLogits) {
  Scene scene = SmallScene();
  Normalise(&scene.logits[0][0], false);
  FillOneHot(&scene.logits[0][0], 0, 1000);
  ExpectError(ErrorCode::kBadData, {"probabilities"}, [&] { Check(scene, InputKind::kLogits); });
}

TEST(CheckInputKind, TakesLogProbabilities) {
  Scene scene = SmallScene();
  Normalise(&scene.logits[0][0], true);
  EXPECT_NO_THROW(Check(scene, InputKind::kLogProbs));
  EXPECT_NO_THROW(Check(scene, InputKind::kLogProbs, DType::kF16));
  EXPECT_NO_THROW(Check(scene, InputKind::kLogits));  // they are logits too
}

TEST(CheckInputKind, RefusesLogitsThatAreCalledLogProbabilities) {
  ExpectError(ErrorCode::kBadData, {"member0.npy", "do not sum to one", "\"logits\""}, [] {
    Check(SmallScene(), InputKind::kLogProbs);
  });
}

TEST(CheckInputKind, LeavesOneClassAndAHandfulOfVoxelsAlone) {
  const Scene one_class = RandomScene({.num_cases = 1, .num_classes = 1, .shape = {8, 8}});
  EXPECT_NO_THROW(Check(one_class, InputKind::kLogits));
  Scene tiny = RandomScene({.num_cases = 1, .num_classes = 4, .shape = {3}});
  Normalise(&tiny.logits[0][0], false);
  EXPECT_NO_THROW(Check(tiny, InputKind::kLogits));
}

}  // namespace
}  // namespace segcal
