// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "methods/affine/affine_regularizer.h"
#include "methods/affine/affine_sample.h"
#include "methods/shared/calibrator.h"
#include "optim/expert_newton.h"

namespace segcal {

// Maps found so far, and what is known about them.
struct AffineSolution {
  ExpertParameters parameters;
  SolverResult result;
  int64_t passes = 0;  // over the data: those of the result that were not remembered
  double nll = 0.0;    // mean over all voxels, without the penalty
};

// The fit of one affine family to one data set: counts and sample are made once, solutions for any
// penalty follow.
class AffineProblem {
 public:
  // `context` outlives this.
  AffineProblem(const AffineShape& shape, const Box& box, const FitContext& context);
  // The same family on a part of the data, to be solved by Resolve: in the metric that `whole` has
  // kept, without a sample of its own. `context` outlives this.
  AffineProblem(const AffineProblem& whole, const FitContext& context);

  // Minimises every expert's own mean objective (A4) from `start`.
  AffineSolution Solve(const Penalty& penalty,
                       const ExpertParameters& start,
                       double gradient_tolerance,
                       int64_t max_passes);
  // The same from maps that are good for another penalty, in the metric kept last: no work on the
  // sample, and a few passes. They move even if they are good enough for this one.
  AffineSolution Resolve(const Penalty& penalty,
                         const ExpertParameters& start,
                         double gradient_tolerance,
                         int64_t max_passes);
  // Keeps the curvature of the loss at these maps for Resolve.
  void KeepCurvature(const ExpertParameters& at);

  const std::vector<int64_t>& voxels() const noexcept { return voxels_; }  // of every expert
  // Whether the labels of an expert's voxels lack a class.
  bool LacksClass(size_t expert) const;
  // What the sample, its curvature and what is remembered take.
  int64_t bytes() const noexcept;
  // How much the penalty weighs in an expert's own mean objective: all voxels over its own.
  double PenaltyWeight(size_t expert) const;

 private:
  AffineSolution SolveWith(const Penalty& penalty,
                           const ExpertParameters& start,
                           double gradient_tolerance,
                           int64_t max_passes,
                           bool skip_model,
                           double start_share);
  // The sums at these maps: no penalty changes them, and a search often starts where the last trial
  // did, or where it ended. Those two are remembered.
  struct Remembered {
    ExpertParameters points;
    std::vector<ExpertSums> sums;
  };
  std::vector<ExpertSums> SumsAt(const ExpertParameters& points, int64_t* passes);
  std::unique_ptr<QuadraticModel> DenseCurvature(const std::vector<double>& of_penalty,
                                                 size_t expert,
                                                 std::vector<double> of_loss) const;
  bool Remembers() const noexcept;
  int ThreadsOfOne() const noexcept;
  bool HasFewVoxels(size_t expert) const noexcept;
  std::vector<char> FewAndWhole() const;
  std::unique_ptr<QuadraticModel> ImplicitCurvature(
      const AffineRegularizer& regularizer,
      int64_t expert,
      const std::vector<double>& point,
      std::shared_ptr<SharedPreconditioner> shared) const;
  std::vector<double> BlocksOf(const AffineRegularizer& regularizer,
                               int64_t expert,
                               const std::vector<double>& point) const;
  std::vector<double> SampleHessian(int64_t expert, const std::vector<double>& point) const;

  AffineShape shape_;
  Box box_;
  const FitContext& context_;
  std::vector<int64_t> voxels_;
  std::shared_ptr<const ExpertSample> sample_;
  bool owns_sample_ = true;
  // [expert]: Hessians of the loss; empty: none were kept.
  std::shared_ptr<const std::vector<std::vector<double>>> kept_;
  Remembered start_;
  Remembered last_;
};

// An Error unless half the memory holds these bytes: less would mean smaller samples, and other
// bits.
void CheckProblemMemory(int64_t bytes, int64_t memory);

}  // namespace segcal
