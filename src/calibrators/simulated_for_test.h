// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>

#include "core/json.h"
#include "segcal/evaluate.h"
#include "segcal/fit.h"
#include "segcal/simulate.h"
#include "tests/support/temp_folder.h"

namespace segcal::testing {

// A simulated data set in files, with calibration, validation and test cases.
class Simulated {
 public:
  explicit Simulated(const SimulateOptions& options) {
    Simulate(folder_.File("data"), options);
    dataset_ = LoadDataset(folder_.File("data"));
    true_loss_ = ReadJson(folder_.File("data/truth.json")).at("splits").at("test").at("nll");
  }

  const Dataset& dataset() const { return dataset_; }
  // Of the truth, on the test cases.
  double true_loss() const { return true_loss_; }

  Model FitModel(const std::string& pipeline) const {
    FitOptions options;
    options.search = 0;
    return Fit(dataset_, pipeline, options).model;
  }
  double TestLoss(const std::string& pipeline) const {
    EvaluateOptions options;
    options.split = "test";
    options.families = {"scores"};
    const EvaluateResult result = Evaluate(dataset_, {FitModel(pipeline)}, options);
    return FindValue(result.pipelines[0].pooled, "nll");
  }

 private:
  TempFolder folder_;
  Dataset dataset_;
  double true_loss_ = 0.0;
};

}  // namespace segcal::testing
