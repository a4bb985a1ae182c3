// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/options.h"
#include "methods/affine/affine_evaluator.h"
#include "methods/affine/affine_fit.h"
#include "methods/shared/calibrator.h"

namespace segcal {

// What tells one affine method from another.
struct AffineFamily {
  const char* name;
  AffineSpace space;
  bool per_decision;
  bool diagonal;  // only the diagonal of the weights is free
  Properties properties;
  ParameterCounts (*counts)(int64_t num_classes);
};

// A calibrator of the affine family: options, one set of parameters per expert, fit and apply. Gaps
// are bounded below by zero, which is what keeps the winner or the order.
class AffineCalibrator : public PixelCalibrator {
 public:
  AffineCalibrator(const AffineFamily& family, const AffineOptions& options)
      : family_(family), options_(options) {}

  Properties properties() const override { return family_.properties; }
  ParameterCounts counts(int64_t num_classes) const override { return family_.counts(num_classes); }

  FitOutcome Fit(const FitContext& context) override;
  Json Parameters() const override;
  std::vector<Claim> Claims() const override;
  void SetParameters(const Json& json, int64_t num_classes, const std::string& where) override;
  void ApplyTile(const Tile& tile, const TileProbs& out) const override;
  std::string AddToGraph(const GraphInput& in, OnnxBuilder* g) const override;

 private:
  AffineShape ShapeFor(int64_t num_classes) const;
  Box BoxFor(const AffineShape& shape) const;
  Box FileBoxFor(const AffineShape& shape) const;
  void Install(const AffineShape& shape, ExpertParameters parameters);

  AffineFamily family_;
  AffineOptions options_;
  AffineShape shape_;
  ExpertParameters parameters_;
  std::vector<ExpertWeights> weights_;
};

// make of a descriptor, for a family that lives as long as the program.
template <const AffineFamily& kFamily>
std::unique_ptr<Calibrator> MakeAffine(const OptionMap& options, std::unique_ptr<Calibrator>) {
  return std::make_unique<AffineCalibrator>(kFamily,
                                            ParseOptions<AffineOptions>(kFamily.name, options));
}

}  // namespace segcal
