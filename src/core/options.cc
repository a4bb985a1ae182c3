// SPDX-License-Identifier: Apache-2.0
#include "core/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/throw.h"

namespace segcal {
namespace {

template <class Number>
Number ParseNumber(const std::string& where, const std::string& text, const char* kind) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end || text.empty()) {
    Throw(ErrorCode::kInvalidArgument, "{}: \"{}\" is not {}", where, text, kind);
  }
  return value;
}

void CheckRange(const std::string& where,
                const std::string& text,
                const Constraint& rule,
                double value) {
  const bool low = rule.above_lower ? !(value > rule.lower) : !(value >= rule.lower);
  if (low) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: {} is too low, {} {} is required",
          where,
          text,
          rule.above_lower ? "more than" : "at least",
          rule.lower);
  }
  if (!(value <= rule.upper)) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: {} is too high, at most {} is required",
          where,
          text,
          rule.upper);
  }
}

}  // namespace

void ParseField(const std::string& where,
                const std::string& text,
                const Constraint& rule,
                double* value) {
  *value = ParseNumber<double>(where, text, "a number");
  if (!std::isfinite(*value))
    Throw(ErrorCode::kInvalidArgument, "{}: \"{}\" is not a number", where, text);
  CheckRange(where, text, rule, *value);
}

void ParseField(const std::string& where,
                const std::string& text,
                const Constraint& rule,
                int64_t* value) {
  *value = ParseNumber<int64_t>(where, text, "a whole number");
  CheckRange(where, text, rule, static_cast<double>(*value));
}

void ParseField(const std::string& where, const std::string& text, const Constraint&, bool* value) {
  if (text != "true" && text != "false") {
    Throw(ErrorCode::kInvalidArgument, "{}: \"{}\" is not true or false", where, text);
  }
  *value = text == "true";
}

void ParseField(const std::string& where,
                const std::string& text,
                const Constraint& rule,
                std::string* value) {
  const auto& choices = rule.choices;
  if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end()) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: \"{}\" is not one of {}",
          where,
          text,
          fmt::join(choices, ", "));
  }
  *value = text;
}

std::string FormatField(double value) { return fmt::format("{}", value); }
std::string FormatField(int64_t value) { return fmt::format("{}", value); }
std::string FormatField(bool value) { return value ? "true" : "false"; }
std::string FormatField(const std::string& value) { return value; }

double SixDigits(double value) {
  return ParseNumber<double>("search", fmt::format("{:.6g}", value), "a number");
}

void ThrowUnknownOption(const std::string& method,
                        const std::string& key,
                        const std::vector<std::string>& known) {
  if (known.empty())
    Throw(ErrorCode::kInvalidArgument, "{}: unknown option \"{}\"; it has none", method, key);
  Throw(ErrorCode::kInvalidArgument,
        "{}: unknown option \"{}\"; it has {}",
        method,
        key,
        fmt::join(known, ", "));
}

}  // namespace segcal
