// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/parallel.h"
#include "core/throw.h"
#include "methods/affine/affine_blocks.h"
#include "optim/dense_model.h"
#include "optim/implicit_model.h"

namespace segcal {
namespace {

// Voxels in the sample: the more there are, the fewer passes follow, but enough for every expert. A
// voxel's part of a Hessian takes about parameters / 8 times what a pass does with it, and Newton's
// method some eight Hessians: this share of the voxels makes that the work of four passes. No
// Hessian takes more multiplications than kHessianWork.
constexpr int64_t kPassesOfWork = 4;
constexpr int64_t kHessianWork = int64_t{1} << 30;
constexpr int64_t kLeastPerExpert = 2048;
constexpr int64_t kLeastOfOne = 32768;

// Above this many parameters the Hessian of an expert, and factoring it, cost more than passes.
constexpr int64_t kMaxDense = 1300;

// What samples and Hessians may take: not shares of --memory, on which results must not depend. A
// fit refuses less memory than they need. Voxels of few classes take little but for what keeps
// them.
constexpr int64_t kSampleBytes = int64_t{256} << 20;
constexpr int64_t kImplicitSampleBytes = int64_t{448} << 20;
constexpr int64_t kHessianBytes = int64_t{512} << 20;
constexpr int64_t kMostVoxels = int64_t{1} << 22;

// Without Hessians every step takes some dozens of products with one: the share of the voxels they
// are computed from.
constexpr int64_t kImplicitShare = 4;

// A map without bounds follows the voxels it sees wherever they lead it: so many for every
// parameter, or all there are, keep it near what all voxels say.
constexpr int64_t kVoxelsPerParameter = 16;

// Voxels that a block is computed from, for every one of its parameters: the eigenvalues of what
// they leave out are then within a factor of about two of what they stand for.
constexpr int64_t kVoxelsPerBlockParameter = 4;

// Steps on the sample that take the same blocks: probabilities change little from one to the next.
constexpr int kStepsOfBlocks = 3;

// The rounding of float32 falls with the root of the voxels in a mean and grows with the root of
// the parameters: with fewer for each the gradient of an expert would not come below 1e-6.
constexpr int64_t kFewVoxelsPerParameter = 2;

// Without Hessians the model is minimised to this only: the rest is better done on all voxels.
constexpr double kModelTolerance = 1e-3;

// A solution for another penalty is often within the tolerance for this one too: of its projected
// gradient so much may be left, which takes one step.
constexpr double kStartShare = 0.1;

// Kept Hessians, metrics, and the factors of one per thread.
int64_t HessianBytes(const AffineShape& shape) {
  const int64_t n = shape.num_parameters();
  return n * n * int64_t{sizeof(double)} * (2 * shape.num_experts() + 4);
}

// Without Hessians: points and gradients of every expert; of those with voxels what was learned,
// and exact sums of every worker; blocks with their factors of the experts at work.
int64_t VectorBytes(const AffineShape& shape, int64_t with_voxels, int64_t workers) {
  const int64_t of_experts = 6 * shape.num_experts() + with_voxels * (14 + 5 * workers);
  const int64_t of_blocks = 2 * shape.num_features() * std::min(workers, shape.num_experts());
  return shape.num_parameters() * int64_t{sizeof(double)} * (of_experts + of_blocks);
}

int64_t RememberedBytes(const AffineShape& shape) {
  return 6 * shape.num_parameters() * shape.num_experts() * int64_t{sizeof(double)};
}

bool IsDense(const AffineShape& shape) {
  return shape.num_parameters() <= kMaxDense && HessianBytes(shape) <= kHessianBytes;
}

// Of every expert, given its voxels, where Hessians are kept.
std::vector<int64_t> DenseSampleSizes(const AffineShape& shape,
                                      const std::vector<int64_t>& voxels) {
  const int64_t products = shape.num_parameters() * shape.num_parameters() / 4;
  const int64_t least = shape.per_decision ? kLeastPerExpert : kLeastOfOne;
  const int64_t bytes = shape.num_features() * int64_t{sizeof(float)};
  const int64_t room = std::min(kMostVoxels, kSampleBytes / bytes) / shape.num_experts();
  std::vector<int64_t> sizes;
  for (const int64_t own : voxels) {
    const int64_t worth = kPassesOfWork * own / shape.num_parameters();
    const int64_t wanted = std::max(least, std::min(worth, kHessianWork / products));
    sizes.push_back(std::max(kTileVoxels, std::min(wanted, room)));
  }
  return sizes;
}

// The same where none is kept. First what every expert needs at least, then shares of what is left.
std::vector<int64_t> ImplicitSampleSizes(const AffineShape& shape,
                                         const std::vector<int64_t>& voxels) {
  const bool bounded = shape.gaps() || shape.diagonal;
  const int64_t least =
      std::max(shape.per_decision ? kLeastPerExpert : kLeastOfOne,
               bounded ? int64_t{0} : kVoxelsPerParameter * shape.num_parameters());
  double all_needed = 1.0;
  double all_wanted = 1.0;
  for (const int64_t own : voxels) {
    all_needed += static_cast<double>(std::min(own, least));
    all_wanted += static_cast<double>(std::max(std::min(own, least), own / kImplicitShare));
  }
  const double room = static_cast<double>(kImplicitSampleBytes) /
                      static_cast<double>(shape.num_features() * int64_t{sizeof(float)});
  const double of_needed = std::min(1.0, room / all_needed);
  const double rest = std::max(1.0, all_wanted - all_needed);
  const double of_rest = std::clamp((room - all_needed) / rest, 0.0, 1.0);
  std::vector<int64_t> sizes;
  for (const int64_t own : voxels) {
    const int64_t share = own / kImplicitShare;
    const auto needed = static_cast<double>(std::min(own, least));
    const double more = std::max(0.0, static_cast<double>(share) - needed);
    sizes.push_back(
        std::max(kTileVoxels, static_cast<int64_t>(of_needed * needed + of_rest * more)));
  }
  return sizes;
}

std::vector<int64_t> SampleSizes(const AffineShape& shape, const std::vector<int64_t>& voxels) {
  return IsDense(shape) ? DenseSampleSizes(shape, voxels) : ImplicitSampleSizes(shape, voxels);
}

std::vector<int64_t> CountExpertVoxels(const AffineShape& shape,
                                       const std::vector<int64_t>& confusion) {
  std::vector<int64_t> voxels(static_cast<size_t>(shape.num_experts()), 0);
  for (size_t i = 0; i < confusion.size(); ++i) {
    voxels[shape.per_decision ? i / static_cast<size_t>(shape.num_classes) : 0] += confusion[i];
  }
  return voxels;
}

// What is common to all rows changes no probability: the slope along it is zero, but for rounding
// that no step can take away.
void TakeOutCommon(const AffineShape& shape, std::vector<double>* gradient) {
  if (shape.gaps()) return;
  const auto features = static_cast<size_t>(shape.num_features());
  for (size_t k = shape.diagonal ? features - 1 : 0; k < features; ++k) {
    double mean = 0.0;
    for (size_t i = k; i < gradient->size(); i += features)
      mean += (*gradient)[i] / static_cast<double>(shape.num_rows());
    for (size_t i = k; i < gradient->size(); i += features) (*gradient)[i] -= mean;
  }
}

// Mean loss + weight * penalty.
Value Objective(const AffineShape& shape,
                const ExpertSums& sums,
                const Value& penalty,
                double weight) {
  Value value{.value = weight * penalty.value, .gradient = penalty.gradient};
  for (double& g : value.gradient) g *= weight;
  if (sums.count == 0.0) return value;
  value.value += sums.loss / sums.count;
  for (size_t i = 0; i < value.gradient.size(); ++i) {
    value.gradient[i] += sums.gradient[i] / sums.count;
  }
  TakeOutCommon(shape, &value.gradient);
  return value;
}

// Shifts that leave probabilities as they are have no curvature, and a step must not follow the
// rounding along them: any curvature there stops it.
void AddGaugeCurvature(const AffineShape& shape, std::vector<double>* hessian) {
  if (shape.gaps()) return;
  const auto features = static_cast<size_t>(shape.num_features());
  const auto n = static_cast<size_t>(shape.num_parameters());
  for (size_t k = shape.diagonal ? features - 1 : 0; k < features; ++k) {
    for (size_t i = k; i < n; i += features) {
      for (size_t j = k; j < n; j += features) (*hessian)[i * n + j] += 1.0;
    }
  }
}

// Of the penalty alone; empty where no Hessian is kept.
std::vector<double> PenaltyCurvature(const AffineShape& shape,
                                     const AffineRegularizer& regularizer) {
  if (!IsDense(shape)) return {};
  std::vector<double> curvature = regularizer.Hessian();
  AddGaugeCurvature(shape, &curvature);
  return curvature;
}

}  // namespace

AffineProblem::AffineProblem(const AffineShape& shape, const Box& box, const FitContext& context)
    : shape_(shape),
      box_(box),
      context_(context),
      voxels_(CountExpertVoxels(shape, context.survey.confusion)),
      sample_(std::make_shared<const ExpertSample>(context.stream,
                                                   context.pooling,
                                                   shape,
                                                   context.survey.confusion,
                                                   SampleSizes(shape, voxels_),
                                                   context.seed)) {}

AffineProblem::AffineProblem(const AffineProblem& whole, const FitContext& context)
    : shape_(whole.shape_),
      box_(whole.box_),
      context_(context),
      voxels_(CountExpertVoxels(shape_, context.survey.confusion)),
      sample_(whole.sample_),
      owns_sample_(false),
      kept_(whole.kept_) {}

bool AffineProblem::LacksClass(size_t expert) const {
  const auto n = static_cast<size_t>(shape_.num_classes);
  for (size_t label = 0; label < n; ++label) {
    const int64_t count = shape_.per_decision ? context_.survey.confusion[expert * n + label]
                                              : context_.survey.label_counts[label];
    if (count == 0) return true;
  }
  return false;
}

double AffineProblem::PenaltyWeight(size_t expert) const {
  return static_cast<double>(context_.survey.labelled) /
         static_cast<double>(std::max<int64_t>(1, voxels_[expert]));
}

int64_t AffineProblem::bytes() const noexcept {
  // Maps of two trials, and two remembered points with their sums.
  if (!owns_sample_) return RememberedBytes(shape_);
  if (IsDense(shape_)) return sample_->bytes() + HessianBytes(shape_);
  const auto with_voxels =
      std::count_if(voxels_.begin(), voxels_.end(), [](int64_t own) { return own > 0; });
  const int64_t workers = context_.stream.num_workers();
  return sample_->bytes() + VectorBytes(shape_, with_voxels, workers) +
         sample_->block_bytes() * std::min(workers, shape_.num_experts());
}

// A single expert has all threads for its sample; several have one each.
int AffineProblem::ThreadsOfOne() const noexcept {
  return shape_.per_decision ? 1 : context_.stream.num_workers();
}

bool AffineProblem::HasFewVoxels(size_t expert) const noexcept {
  return voxels_[expert] < kFewVoxelsPerParameter * shape_.num_parameters();
}

// The experts whose sample is all their voxels, and counts as exactly as they do.
std::vector<char> AffineProblem::FewAndWhole() const {
  std::vector<char> whole(voxels_.size());
  for (size_t e = 0; e < whole.size(); ++e)
    whole[e] = HasFewVoxels(e) && sample_->voxels(static_cast<int64_t>(e)) == voxels_[e] ? 1 : 0;
  return whole;
}

std::vector<double> AffineProblem::SampleHessian(int64_t expert,
                                                 const std::vector<double>& point) const {
  std::vector<double> hessian = sample_->Hessian(expert, point, ThreadsOfOne());
  const double share = sample_->weight(expert) > 0.0 ? 1.0 / sample_->weight(expert) : 0.0;
  for (double& h : hessian) h *= share;
  return hessian;
}

// About the curvature at a point, by blocks: those of the loss and of the penalty (RowCurvature).
std::vector<double> AffineProblem::BlocksOf(const AffineRegularizer& regularizer,
                                            int64_t expert,
                                            const std::vector<double>& point) const {
  const BlockLayout layout(shape_);
  const double share = 1.0 / std::max(1.0, sample_->weight(expert));
  const double weight = PenaltyWeight(static_cast<size_t>(expert));
  std::vector<double> blocks =
      sample_->Blocks(expert, point, share, kVoxelsPerBlockParameter * layout.size, ThreadsOfOne());
  const std::vector<double> features = regularizer.FeatureCurvature();
  std::vector<double> rows(static_cast<size_t>(layout.by_feature ? layout.size * layout.size : 0));
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto entry = static_cast<int64_t>(i);
    rows[i] = regularizer.RowCurvature(entry / layout.size, entry % layout.size);
  }
  // Of one row all features, of one feature all rows.
  const std::vector<double>& of_block = layout.by_feature ? rows : features;
  auto to = blocks.begin();
  for (int64_t b = 0; b < layout.num_blocks; ++b) {
    const double factor =
        weight * (layout.by_feature ? features[static_cast<size_t>(b * (layout.num_features + 1))]
                                    : regularizer.RowCurvature(b, b));
    for (const double x : of_block) *to++ += factor * x;
  }
  return blocks;
}

// The curvature at a point where the matrix is too large to be kept.
std::unique_ptr<QuadraticModel> AffineProblem::ImplicitCurvature(
    const AffineRegularizer& regularizer,
    int64_t expert,
    const std::vector<double>& point,
    std::shared_ptr<SharedPreconditioner> shared) const {
  const double share = 1.0 / std::max(1.0, sample_->weight(expert));
  const double weight = PenaltyWeight(static_cast<size_t>(expert));
  const auto product = [=, this, &regularizer](const std::vector<double>& direction,
                                               const std::vector<char>& wanted) {
    std::vector<double> of_loss =
        sample_->Product(expert, point, direction, wanted, ThreadsOfOne());
    const std::vector<double> of_penalty = regularizer.Product(direction);
    for (size_t i = 0; i < of_loss.size(); ++i)
      of_loss[i] = share * of_loss[i] + weight * of_penalty[i];
    return of_loss;
  };
  const auto blocks = [=, this, &regularizer]() -> std::shared_ptr<const Preconditioner> {
    if (shared && shared->made && shared->steps++ < kStepsOfBlocks) return shared->made;
    if (shared) shared->made.reset();  // first: they are large
    auto made = std::make_shared<AffineBlocks>(shape_, BlocksOf(regularizer, expert, point));
    if (shared && shared->is_open) *shared = {.made = made, .steps = 1};
    return made;
  };
  return MakeImplicitModel({.multiply = product, .preconditioner = blocks});
}

void AffineProblem::KeepCurvature(const ExpertParameters& at) {
  if (!IsDense(shape_)) return;
  std::vector<std::vector<double>> hessians(at.size());
  const int threads = shape_.per_decision ? context_.stream.num_workers() : 1;
  ParallelFor(static_cast<int64_t>(at.size()), threads, [&](int64_t e, int) {
    hessians[static_cast<size_t>(e)] = SampleHessian(e, at[static_cast<size_t>(e)]);
  });
  kept_ = std::make_shared<const std::vector<std::vector<double>>>(std::move(hessians));
}

AffineSolution AffineProblem::Solve(const Penalty& penalty,
                                    const ExpertParameters& start,
                                    double gradient_tolerance,
                                    int64_t max_passes) {
  return SolveWith(
      penalty, start, gradient_tolerance, max_passes, /*skip_model=*/false, /*start_share=*/0.0);
}

AffineSolution AffineProblem::Resolve(const Penalty& penalty,
                                      const ExpertParameters& start,
                                      double gradient_tolerance,
                                      int64_t max_passes) {
  const bool skip_model = !IsDense(shape_) || kept_ != nullptr;
  return SolveWith(
      penalty, start, gradient_tolerance, max_passes, skip_model, /*start_share=*/kStartShare);
}

std::vector<ExpertSums> AffineProblem::SumsAt(const ExpertParameters& points, int64_t* passes) {
  for (const Remembered* known : {&start_, &last_}) {
    if (known->points == points) return known->sums;
  }
  const std::string stage = fmt::format("fit, pass {}", ++*passes);
  std::vector<char> exact(points.size());
  for (size_t e = 0; e < exact.size(); ++e) exact[e] = HasFewVoxels(e) ? 1 : 0;
  std::vector<ExpertSums> sums =
      AffinePass(context_.stream, stage, context_.pooling, shape_, points, exact);
  if (Remembers()) last_ = {.points = points, .sums = sums};
  return sums;
}

// Where Hessians are not kept, sums of all experts would take as much as all else.
bool AffineProblem::Remembers() const noexcept { return IsDense(shape_); }

// The model of an expert with this Hessian of the loss.
std::unique_ptr<QuadraticModel> AffineProblem::DenseCurvature(const std::vector<double>& of_penalty,
                                                              size_t expert,
                                                              std::vector<double> of_loss) const {
  const double weight = PenaltyWeight(expert);
  for (size_t i = 0; i < of_loss.size(); ++i) of_loss[i] += weight * of_penalty[i];
  return MakeDenseModel(std::move(of_loss));
}

AffineSolution AffineProblem::SolveWith(const Penalty& penalty,
                                        const ExpertParameters& start,
                                        double gradient_tolerance,
                                        int64_t max_passes,
                                        bool skip_model,
                                        double start_share) {
  const AffineRegularizer regularizer(shape_, penalty);
  const std::vector<double> penalty_curvature = PenaltyCurvature(shape_, regularizer);
  const auto objective = [&](const ExpertSums& sums, size_t e, const std::vector<double>& point) {
    return Objective(shape_, sums, regularizer.Evaluate(point), PenaltyWeight(e));
  };
  AffineSolution solution;
  bool at_start = true;
  ExpertProblem problem;
  problem.box = box_;
  problem.evaluate = [&](const ExpertParameters& points) {
    const std::vector<ExpertSums> sums = SumsAt(points, &solution.passes);
    if (at_start && Remembers()) start_ = {.points = points, .sums = sums};
    at_start = false;
    std::vector<Value> values;
    for (size_t e = 0; e < points.size(); ++e) values.push_back(objective(sums[e], e, points[e]));
    return values;
  };
  problem.model = [&](int64_t e, const std::vector<double>& point) {
    const auto expert = static_cast<size_t>(e);
    return objective(
        sample_->Evaluate(e, point, HasFewVoxels(expert), ThreadsOfOne()), expert, point);
  };
  problem.model_curvature = [&](int64_t e,
                                const std::vector<double>& point,
                                std::shared_ptr<SharedPreconditioner> shared) {
    if (!IsDense(shape_)) return ImplicitCurvature(regularizer, e, point, std::move(shared));
    const auto expert = static_cast<size_t>(e);
    return DenseCurvature(
        penalty_curvature, expert, skip_model ? (*kept_)[expert] : SampleHessian(e, point));
  };
  solution.result = SolveExperts(problem,
                                 start,
                                 {.gradient_tolerance = gradient_tolerance,
                                  .model_tolerance = IsDense(shape_) ? 0.0 : kModelTolerance,
                                  .whole_model = FewAndWhole(),
                                  .start_share = start_share,
                                  .max_passes = max_passes,
                                  .num_threads = context_.stream.num_workers(),
                                  .skip_model = skip_model});
  for (size_t e = 0; e < start.size(); ++e) {
    const ExpertSolution& expert = solution.result.experts[e];
    solution.parameters.push_back(expert.point);
    const double own = expert.value - PenaltyWeight(e) * regularizer.Evaluate(expert.point).value;
    solution.nll +=
        own * static_cast<double>(voxels_[e]) / static_cast<double>(context_.survey.labelled);
  }
  return solution;
}

void CheckProblemMemory(int64_t bytes, int64_t memory) {
  if (bytes <= memory / 2) return;
  Throw(ErrorCode::kInvalidArgument,
        "the voxel sample and its curvature take {} MiB, half of option memory is {} MiB: at least "
        "{}M is required",
        bytes >> 20,
        memory >> 21,
        (bytes >> 19) + 1);
}

}  // namespace segcal
