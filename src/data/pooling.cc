// SPDX-License-Identifier: Apache-2.0
#include "data/pooling.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/throw.h"

namespace segcal {
namespace {

// Float32 softmax underflows to 0 at a gap of about 87; a lower logit carries no information.
constexpr double kLogitFloor = -87.0;
// Networks emit float32 or float16 probabilities; below this they are rounding.
constexpr double kLowestProbability = 1e-8;

bool IsMember(const std::string& text) {
  return text.size() >= 2 && text.size() <= 6 && text[0] == 'z' &&
         std::all_of(
             text.begin() + 1, text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

bool LooksLikePooling(const std::string& text) {
  return text == "z" || text == "p" || IsMember(text);
}

Pooling ParsePooling(const std::string& text) {
  if (text == "z") return {.rule = PoolRule::kMeanLogits, .member = -1};
  if (text == "p") return {.rule = PoolRule::kMeanProbs, .member = -1};
  if (IsMember(text)) return {.rule = PoolRule::kMeanLogits, .member = std::stoll(text.substr(1))};
  Throw(
      ErrorCode::kInvalidArgument,
      "unknown pooling \"{}\": z (mean logits), p (mean probabilities) or z0, z1, ... (one member)",
      text);
}

std::string FormatPooling(const Pooling& pooling) {
  if (pooling.member >= 0) return fmt::format("z{}", pooling.member);
  return pooling.rule == PoolRule::kMeanLogits ? "z" : "p";
}

InputKind ParseInputKind(const std::string& name) {
  for (const InputKind kind : {InputKind::kLogits, InputKind::kLogProbs, InputKind::kProbs}) {
    if (name == Name(kind)) return kind;
  }
  Throw(ErrorCode::kInvalidArgument,
        "unknown input \"{}\": logits, log_probabilities or probabilities",
        name);
}

double InputFloor(InputKind input) {
  return input == InputKind::kProbs ? std::log(kLowestProbability) : kLogitFloor;
}

}  // namespace segcal
