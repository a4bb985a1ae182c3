// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compatible.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/models.h"

namespace segcal {
namespace {

using testing::ExpectError;

Dataset ThreeClasses() {
  Dataset dataset;
  dataset.name = "street";
  dataset.classes = {"sky", "road", "car"};
  dataset.input = InputKind::kLogits;
  return dataset;
}

void ExpectIncompatible(const Dataset& dataset, const std::vector<std::string>& parts) {
  const Model model = testing::TemperatureModel(ThreeClasses(), 1.0);
  ExpectError(ErrorCode::kBadData, parts, [&] { CheckCompatible(model, dataset); });
}

TEST(CheckCompatible, AcceptsDataOfTheSameClassesAndInput) {
  EXPECT_NO_THROW(CheckCompatible(testing::TemperatureModel(ThreeClasses(), 1.0), ThreeClasses()));
}

TEST(CheckCompatible, SaysWhatDiffers) {
  Dataset dataset = ThreeClasses();
  dataset.classes.emplace_back("bus");
  ExpectIncompatible(dataset, {"ts(z)", "3 classes", "\"street\"", "has 4"});
  dataset = ThreeClasses();
  std::swap(dataset.classes[1], dataset.classes[2]);
  ExpectIncompatible(dataset, {"class 1", "\"road\"", "\"car\"", "\"street\""});
  dataset = ThreeClasses();
  dataset.input = InputKind::kProbs;
  ExpectIncompatible(dataset, {"takes logits", "holds probabilities"});
}

TEST(CheckNeeds, NamesTheCaseWithoutAnImage) {
  Dataset dataset = ThreeClasses();
  dataset.cases.resize(2);
  dataset.cases[0].id = "0";
  dataset.cases[0].image = "0.png";
  dataset.cases[1].id = "1";
  EXPECT_NO_THROW(CheckNeeds({}, dataset));
  ExpectError(ErrorCode::kBadData, {"case 1", "\"street\"", "no image"}, [&] {
    CheckNeeds({.halo = 2, .image = true, .whole_case = false}, dataset);
  });
}

}  // namespace
}  // namespace segcal
