// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "segcal/export.h"

namespace segcal {

// What the values of a prediction are. Always stated, never guessed.
enum class InputKind { kLogits, kLogProbs, kProbs };

// As in files and messages: "logits", "log_probabilities", "probabilities".
constexpr const char* Name(InputKind kind) noexcept {
  switch (kind) {
    case InputKind::kLogits:
      return "logits";
    case InputKind::kLogProbs:
      return "log_probabilities";
    case InputKind::kProbs:
      return "probabilities";
  }
  return "?";
}

// The kind of such a name; another is an Error.
SEGCAL_EXPORT InputKind ParseInputKind(const std::string& name);

}  // namespace segcal
