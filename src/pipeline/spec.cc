// SPDX-License-Identifier: Apache-2.0
#include "pipeline/spec.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "calibrators/list.h"
#include "core/throw.h"

namespace segcal {
namespace {

std::string Trimmed(std::string_view text) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return std::string(text);
}

std::vector<std::string> SplitAt(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(Trimmed(text.substr(begin, end - begin)));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

[[noreturn]] void Fail(const std::string& text, const std::string& why) {
  Throw(ErrorCode::kInvalidArgument,
        "pipeline \"{}\": {}; the form is name(pooling, key=value), for example ts(z) or "
        "selective+ts(p)",
        text,
        why);
}

void ReadArgument(const std::string& text,
                  const std::string& argument,
                  bool* has_pooling,
                  PipelineSpec* spec) {
  const size_t equals = argument.find('=');
  if (equals == std::string::npos) {
    if (*has_pooling) Fail(text, fmt::format("\"{}\" is a second pooling", argument));
    if (!LooksLikePooling(argument))
      Fail(text, fmt::format("\"{}\" is neither a pooling nor key=value", argument));
    spec->pooling = ParsePooling(argument);
    *has_pooling = true;
    return;
  }
  const std::string key = Trimmed(argument.substr(0, equals));
  const std::string value = Trimmed(argument.substr(equals + 1));
  if (key.empty() || value.empty())
    Fail(text, fmt::format("\"{}\" lacks a key or a value", argument));
  if (!spec->options.emplace(key, value).second)
    Fail(text, fmt::format("\"{}\" is given twice", key));
}

}  // namespace

PipelineSpec ParsePipeline(const std::string& text) {
  PipelineSpec spec;
  const std::string trimmed = Trimmed(text);
  const size_t open = trimmed.find('(');
  spec.stages = SplitAt(trimmed.substr(0, open), '+');
  for (const std::string& stage : spec.stages) {
    if (stage.empty()) Fail(text, "a name is missing");
    FindCalibrator(stage);
  }
  if (open == std::string::npos) return spec;
  if (trimmed.back() != ')' || std::count(trimmed.begin(), trimmed.end(), ')') != 1 ||
      std::count(trimmed.begin(), trimmed.end(), '(') != 1) {
    Fail(text, "one pair of parentheses around the arguments is required");
  }
  const std::string arguments = trimmed.substr(open + 1, trimmed.size() - open - 2);
  if (Trimmed(arguments).empty()) return spec;
  bool has_pooling = false;
  for (const std::string& argument : SplitAt(arguments, ','))
    ReadArgument(text, argument, &has_pooling, &spec);
  return spec;
}

std::string FormatPipeline(const PipelineSpec& spec) {
  std::string text = fmt::format("{}({}", fmt::join(spec.stages, "+"), FormatPooling(spec.pooling));
  for (const auto& [key, value] : spec.options) text += fmt::format(", {}={}", key, value);
  return text + ")";
}

std::string ShortPipeline(const std::string& text) {
  PipelineSpec spec = ParsePipeline(text);
  spec.options.clear();
  return FormatPipeline(spec);
}

}  // namespace segcal
