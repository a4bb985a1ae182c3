// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/options.h"
#include "methods/tree/tree_fit.h"

namespace segcal {

// q = S(z / T) with a temperature per voxel (LT3, LT4), or per case (IT1), that a tree of filters
// reads from the prediction.
class TreeCalibrator final : public Calibrator {
 public:
  TreeCalibrator(const TreeVariant& variant, const TreeOptions& options)
      : variant_(variant), options_(options) {}

  Properties properties() const override {
    return {.translation_invariant = variant_.scores == ScoreKind::kCanonical,
            .preserves = Preserves::kOrder};
  }
  Needs needs() const override {
    return {.halo = kTreeHalo, .image = variant_.image, .whole_case = true};
  }
  ParameterCounts counts(int64_t num_classes) const override;

  FitOutcome Fit(const FitContext& context) override;
  Json Parameters() const override;
  std::vector<Claim> Claims() const override;
  void SetParameters(const Json& json, int64_t num_classes, const std::string& where) override;
  std::unique_ptr<BoundCalibrator> Bind(const CaseReader& reader,
                                        const Pooling& pooling,
                                        const BindOptions& options) const override;
  std::string AddToGraph(const GraphInput& in, OnnxBuilder* g) const override;

 private:
  const TreeVariant& variant_;
  TreeOptions options_;
  TreeShape shape_;  // no classes: not fitted, the identity
  std::vector<double> weights_;
};

// For the descriptors: kVariant names a TreeVariant with static storage.
template <const TreeVariant& kVariant>
std::unique_ptr<Calibrator> MakeTree(const OptionMap& options, std::unique_ptr<Calibrator>) {
  return std::make_unique<TreeCalibrator>(kVariant,
                                          ParseOptions<TreeOptions>(kVariant.name, options));
}

}  // namespace segcal
