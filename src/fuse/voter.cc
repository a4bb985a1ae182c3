// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "fuse/method.h"

namespace segcal {

Voter::Voter(const FusionInfo& method, const FuseOptions& options, int64_t candidates)
    : method_(method),
      options_(options),
      labels_(static_cast<size_t>(candidates)),
      reliability_(static_cast<size_t>(candidates)),
      weights_(static_cast<size_t>(candidates)) {}

uint16_t Voter::Decide(const VoxelVotes& votes) noexcept {
  size_t n = 0;
  for (size_t i = 0; i < votes.labels.size(); ++i) {
    if (votes.labels[i] == kAbstains) continue;
    labels_[n] = votes.labels[i];
    reliability_[n++] = votes.reliability[i];
  }
  if (n == 0) return kAbstains;
  // Most voxels of most images: nothing to weigh.
  if (std::all_of(labels_.begin(), labels_.begin() + static_cast<ptrdiff_t>(n), [&](uint16_t l) {
        return l == labels_[0];
      }))
    return labels_[0];
  method_.weigh(std::span(reliability_).first(n), options_, std::span(weights_).first(n));
  uint16_t winner = kAbstains;
  double most = 0.0;
  double total = 0.0;
  for (size_t i = 0; i < n; ++i) {
    total += weights_[i];
    double score = 0.0;  // of the label of candidate i, in the order of candidates
    for (size_t j = 0; j < n; ++j) score += labels_[j] == labels_[i] ? weights_[j] : 0.0;
    const bool better =
        winner == kAbstains || score > most || (score == most && labels_[i] < winner);
    if (!better) continue;
    winner = labels_[i];
    most = score;
  }
  return method_.needs_half && 2.0 * most < total ? kAbstains : winner;
}

}  // namespace segcal
