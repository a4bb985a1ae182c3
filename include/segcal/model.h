// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "segcal/views.h"

namespace segcal {

struct ModelState;

// A fitted calibrator: what to do with the members of an ensemble to get probabilities one can
// trust. Cheap to copy; immutable.
class Model {
 public:
  explicit Model(std::shared_ptr<const ModelState> state) : state_(std::move(state)) {}

  // Reads a model file strictly; an unknown format version is refused.
  static Model Load(const std::string& path);
  void Save(const std::string& path) const;
  std::string ToJson() const;  // the bytes of the file

  const std::string& pipeline() const;  // "ts(z)"
  const std::vector<std::string>& classes() const;
  const std::string& input() const;  // "logits", "log_probabilities" or "probabilities"
  bool translation_invariant() const;
  const char* preserves() const;  // "none", "argmax" or "order"

  // Calibrated probabilities of one image or volume given the scores of every member (one view for
  // a single network). The kind of view must be the model's input. num_threads 0: all available.
  void Apply(std::span<const LogitsView> members, const ProbsSpan& out, int num_threads = 0) const;
  void Apply(std::span<const LogProbsView> members,
             const ProbsSpan& out,
             int num_threads = 0) const;
  void Apply(std::span<const ProbsView> members, const ProbsSpan& out, int num_threads = 0) const;

  const ModelState& state() const noexcept { return *state_; }

 private:
  std::shared_ptr<const ModelState> state_;
};

}  // namespace segcal
