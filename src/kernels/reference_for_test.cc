// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference_for_test.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/half.h"

namespace segcal::reference {
namespace {

double LogitAt(const Tile& tile, int64_t c, int64_t v) {
  return static_cast<double>(tile.logits[c * kTileVoxels + v]);
}

double LogSumExp(const Tile& tile, double beta, int64_t v) {
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t c = 0; c < tile.num_classes; ++c)
    largest = std::max(largest, beta * LogitAt(tile, c, v));
  double sum = 0.0;
  for (int64_t c = 0; c < tile.num_classes; ++c)
    sum += std::exp(beta * LogitAt(tile, c, v) - largest);
  return largest + std::log(sum);
}

int64_t ArgMax(std::span<const double> values) {
  return std::max_element(values.begin(), values.end()) - values.begin();
}

double ValueAt(const MemberRows& rows, int64_t c, int64_t v) {
  const int64_t i = c * rows.class_stride + v * rows.voxel_stride;
  switch (rows.dtype) {
    case DType::kF64:
      return static_cast<const double*>(rows.data)[i];
    case DType::kF32:
      return static_cast<double>(static_cast<const float*>(rows.data)[i]);
    case DType::kBF16:
      return static_cast<double>(static_cast<const BFloat16*>(rows.data)[i]);
    default:
      return static_cast<double>(FloatFromHalf(static_cast<const uint16_t*>(rows.data)[i]));
  }
}

// What of a member is averaged: logits, log-probabilities or probabilities.
std::vector<double> MemberTerms(const MemberRows& rows,
                                int64_t num_classes,
                                int64_t v,
                                const PoolOptions& options) {
  std::vector<double> terms;
  for (int64_t c = 0; c < num_classes; ++c) terms.push_back(ValueAt(rows, c, v));
  const bool probs = options.input == InputKind::kProbs;
  if (!probs && options.rule == PoolRule::kMeanLogits) return terms;
  if (!probs) {
    const double largest = *std::max_element(terms.begin(), terms.end());
    for (double& t : terms) t = std::exp(t - largest);
  }
  double sum = 0.0;
  for (const double t : terms) sum += t;
  for (double& t : terms) t /= sum;
  if (options.rule == PoolRule::kMeanLogits) {
    for (double& t : terms) t = std::max(std::log(t), options.floor);
  }
  return terms;
}

// One voxel's terms of MixtureSums but the loss.
void AddMixtureTerms(const double (&ratio)[3], double d, double bend, double* terms) {
  double cut[3];
  for (int k = 0; k < 3; ++k) cut[k] = std::min(ratio[k], kMixtureSecondCap);
  for (int k = 0; k < 3; ++k) {
    terms[kMixtureR0 + k] += ratio[k];
    terms[kMixtureR00 + k] += cut[0] * cut[k];
    terms[kMixtureD0 + k] += cut[k] * cut[0] * d;
  }
  terms[kMixtureR11] += cut[1] * cut[1];
  terms[kMixtureR12] += cut[1] * cut[2];
  terms[kMixtureR22] += cut[2] * cut[2];
  terms[kMixtureD] += ratio[0] * d;
  terms[kMixtureDD] += cut[0] * d * cut[0] * d;
  terms[kMixtureBend] += cut[0] * bend;
}

}  // namespace

std::vector<double> Softmax(const Tile& tile, double beta, int64_t v) {
  std::vector<double> probs;
  const double log_sum = LogSumExp(tile, beta, v);
  for (int64_t c = 0; c < tile.num_classes; ++c) {
    probs.push_back(std::exp(beta * LogitAt(tile, c, v) - log_sum));
  }
  return probs;
}

double LogSoftmax(const Tile& tile, double beta, int64_t c, int64_t v) {
  return beta * LogitAt(tile, c, v) - LogSumExp(tile, beta, v);
}

double FreeEnergy(const Tile& tile, int64_t v) { return tile.offset[v] + LogSumExp(tile, 1.0, v); }

double Entropy(const Tile& tile, int64_t v) {
  // log sum exp without the largest term, which is 1 and would hide the others.
  double others = -1.0;
  double rest = 0.0;
  double moment = 0.0;
  for (int64_t c = 0; c < tile.num_classes; ++c) {
    const double u = LogitAt(tile, c, v);
    (u < 0.0 ? rest : others) += std::exp(u);
    moment -= u * std::exp(u);
  }
  return std::log1p(others + rest) + moment / (1.0 + others + rest);
}

TemperatureResult Temperature(const Tile& tile, double beta) {
  TemperatureResult result;
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    const int64_t label = tile.labels[v];
    if (label == kNoLabel) continue;
    const std::vector<double> q = Softmax(tile, beta, v);
    double mean = 0.0;
    for (int64_t c = 0; c < tile.num_classes; ++c) mean += q[c] * LogitAt(tile, c, v);
    double variance = 0.0;
    double skew = 0.0;
    double skew_scale = 0.0;
    for (int64_t c = 0; c < tile.num_classes; ++c) {
      const double deviation = LogitAt(tile, c, v) - mean;
      variance += q[c] * deviation * deviation;
      skew += q[c] * deviation * deviation * deviation;
      skew_scale += q[c] * std::fabs(deviation * deviation * deviation);
    }
    const double log_sum = LogSumExp(tile, beta, v);
    const double own = LogitAt(tile, label, v);
    result.sums.count += 1;
    result.sums.loss += log_sum - beta * own;
    result.sums.slope += mean - own;
    result.sums.curvature += variance;
    result.sums.skew += skew;
    result.scale.loss += log_sum + std::fabs(beta * own);
    result.scale.slope += std::fabs(mean) + std::fabs(own);
    result.scale.curvature += variance;
    result.scale.skew += skew_scale;
  }
  return result;
}

LabelMargins Margins(const Tile& tile) {
  LabelMargins margins;
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    const int64_t label = tile.labels[v];
    if (label == kNoLabel) continue;
    double sum = 0.0;
    for (int64_t c = 0; c < tile.num_classes; ++c) sum += LogitAt(tile, c, v);
    margins.count += 1;
    margins.below_max += LogitAt(tile, label, v) < 0.0 ? 1 : 0;
    margins.slope_at_zero += sum / static_cast<double>(tile.num_classes) - LogitAt(tile, label, v);
  }
  return margins;
}

std::vector<double> MixtureProbs(const Tile& tile, const Mixture& mixture, int64_t v) {
  std::vector<double> probs = Softmax(tile, mixture.beta, v);
  const std::vector<double> plain = Softmax(tile, 1.0, v);
  for (size_t c = 0; c < probs.size(); ++c) {
    probs[c] = mixture.weights[0] * probs[c] + mixture.weights[1] * plain[c] +
               mixture.weights[2] / static_cast<double>(tile.num_classes);
  }
  return probs;
}

MixtureResult Mixtures(const Tile& tile, const Mixture& mixture) {
  MixtureResult result;
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    const int64_t label = tile.labels[v];
    if (label == kNoLabel) continue;
    const double log_f[3] = {LogSoftmax(tile, mixture.beta, label, v),
                             LogSoftmax(tile, 1.0, label, v),
                             -std::log(static_cast<double>(tile.num_classes))};
    double largest = -std::numeric_limits<double>::infinity();
    for (int k = 0; k < 3; ++k) {
      if (mixture.weights[k] > 0.0) largest = std::max(largest, log_f[k]);
    }
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
      if (mixture.weights[k] > 0.0) sum += mixture.weights[k] * std::exp(log_f[k] - largest);
    }
    const double log_q = largest + std::log(sum);
    double ratio[3];
    for (int k = 0; k < 3; ++k) ratio[k] = std::min(std::exp(log_f[k] - log_q), kMixtureRatioCap);
    const std::vector<double> q = Softmax(tile, mixture.beta, v);
    double mean = 0.0;
    double second = 0.0;
    for (int64_t c = 0; c < tile.num_classes; ++c) mean += q[c] * LogitAt(tile, c, v);
    for (int64_t c = 0; c < tile.num_classes; ++c) {
      second += q[c] * (LogitAt(tile, c, v) - mean) * (LogitAt(tile, c, v) - mean);
    }
    const double own = LogitAt(tile, label, v);
    const double reach = std::fabs(own) + std::fabs(mean);
    const double d = own - mean;
    result.sums.count += 1;
    result.sums.terms[kMixtureLoss] -= log_q;
    result.scale.terms[kMixtureLoss] += 1.0 + std::fabs(log_q);
    AddMixtureTerms(ratio, d, d * d - second, result.sums.terms);
    AddMixtureTerms(ratio, reach, reach * reach + second, result.scale.terms);
  }
  return result;
}

int64_t TopLabel(const float* probs, int64_t num_classes, int64_t v) {
  int64_t best = 0;
  for (int64_t c = 1; c < num_classes; ++c) {
    if (probs[c * kTileVoxels + v] > probs[best * kTileVoxels + v]) best = c;
  }
  return best;
}

ScoreSums Scores(const float* probs,
                 const float* log_label,
                 const int32_t* labels,
                 int64_t num_classes) {
  ScoreSums sums;
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    if (labels[v] == kNoLabel) continue;
    const int64_t top = TopLabel(probs, num_classes, v);
    sums.count += 1;
    sums.correct += labels[v] == top ? 1 : 0;
    sums.confidence += static_cast<double>(probs[top * kTileVoxels + v]);
    sums.log_loss -= static_cast<double>(log_label[v]);
    for (int64_t c = 0; c < num_classes; ++c) {
      const double q = static_cast<double>(probs[c * kTileVoxels + v]);
      const double error = q - (labels[v] == c ? 1.0 : 0.0);
      sums.brier += error * error;
      sums.entropy -= q > 0.0 ? q * std::log(q) : 0.0;
    }
  }
  return sums;
}

int64_t Bin(float x, const BinEdges& edges) {
  const auto begin = edges.upper.begin();
  const auto end = edges.upper.end();
  const auto edge =
      edges.closed_above ? std::lower_bound(begin, end, x) : std::upper_bound(begin, end, x);
  return std::min(edge - begin, end - begin - 1);
}

void ClasswiseBins(const float* probs,
                   const int32_t* labels,
                   int64_t num_classes,
                   const BinEdges& edges,
                   BinSums* bins) {
  const int64_t num_bins = static_cast<int64_t>(edges.upper.size());
  for (int64_t c = 0; c < num_classes; ++c) {
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      if (labels[v] == kNoLabel) continue;
      const float q = probs[c * kTileVoxels + v];
      BinSums& bin = bins[c * num_bins + Bin(q, edges)];
      bin.count += 1;
      bin.correct += labels[v] == c ? 1 : 0;
      bin.confidence += static_cast<double>(q);
    }
  }
}

PooledVoxel Pool(std::span<const MemberRows> members,
                 int64_t num_classes,
                 int64_t v,
                 const PoolOptions& options) {
  std::vector<double> mean(static_cast<size_t>(num_classes), 0.0);
  for (const MemberRows& rows : members) {
    const std::vector<double> terms = MemberTerms(rows, num_classes, v, options);
    for (size_t c = 0; c < mean.size(); ++c) mean[c] += terms[c];
  }
  for (double& m : mean) m /= static_cast<double>(members.size());
  PooledVoxel pooled;
  pooled.decision = ArgMax(mean);
  const bool probs = options.input == InputKind::kProbs;
  if (options.rule == PoolRule::kMeanProbs) {
    const double lowest = probs ? options.floor : -std::numeric_limits<double>::infinity();
    for (double& m : mean) m = std::max(std::log(m), lowest);
  }
  pooled.offset = *std::max_element(mean.begin(), mean.end());
  for (const double m : mean) pooled.logits.push_back(std::max(m - pooled.offset, options.floor));
  return pooled;
}

void KeepWinner(int64_t decision, std::span<float> probs) {
  float rival = -1.0f;
  for (int64_t c = 0; c < static_cast<int64_t>(probs.size()); ++c) {
    if (c != decision) rival = std::max(rival, probs[c]);
  }
  if (probs[decision] > rival) return;
  const float raised = static_cast<float>(static_cast<double>(rival) * (1.0 + 0x1p-23));
  probs[decision] = raised > rival ? raised : std::nextafter(rival, 2.0f);
}

void RoundToHalf(int64_t decision,
                 bool keep_decision,
                 std::span<const float> probs,
                 std::span<uint16_t> out) {
  for (size_t c = 0; c < probs.size(); ++c) out[c] = HalfFromFloat(probs[c]);
  if (!keep_decision) return;
  int32_t rival = -1;
  for (int64_t c = 0; c < static_cast<int64_t>(probs.size()); ++c) {
    if (c != decision) rival = std::max<int32_t>(rival, out[c]);
  }
  if (out[decision] <= rival) out[decision] = static_cast<uint16_t>(rival + 1);
}

}  // namespace segcal::reference
