// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "core/file.h"
#include "core/throw.h"

namespace segcal {
namespace {

constexpr int kMaxDepth = 64;
constexpr int64_t kMaxBytes = int64_t{1} << 30;

// What of a value is shown in a message.
std::string Excerpt(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

void AppendNumber(double value, std::string* out) {
  if (!std::isfinite(value)) {
    *out += "null";
    return;
  }
  // "-0" would be read as a whole number, which has no sign.
  if (value == 0.0 && std::signbit(value)) {
    *out += "-0.0";
    return;
  }
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  out->append(buffer, end);
}

constexpr const char* kAnyNumber = "a number, null, \"inf\" or \"-inf\"";

// What JsonNumber made of a number; nothing for other values.
std::optional<double> NumberFromJson(const Json& json) {
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (json.is_number()) return json.get<double>();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

bool FitsInt64(const Json& integer) {
  return !integer.is_number_unsigned() || integer.get<uint64_t>() <= uint64_t{INT64_MAX};
}

bool IsFlat(const Json& array) {
  return std::none_of(
      array.begin(), array.end(), [](const Json& item) { return item.is_structured(); });
}

void Append(const Json& json, int indent, std::string* out);

void AppendItems(const Json& json, int indent, std::string* out) {
  const bool one_line = json.is_array() && IsFlat(json);
  const std::string separator =
      one_line ? "" : "\n" + std::string(static_cast<size_t>(indent) + 2, ' ');
  bool first = true;
  for (const auto& [key, value] : json.items()) {
    if (!first) *out += one_line ? ", " : ",";
    first = false;
    *out += separator;
    if (json.is_object()) {
      Append(Json(key), 0, out);
      *out += ": ";
    }
    Append(value, indent + 2, out);
  }
  if (!one_line && !json.empty()) *out += "\n" + std::string(static_cast<size_t>(indent), ' ');
}

void Append(const Json& json, int indent, std::string* out) {
  if (json.is_object() || json.is_array()) {
    *out += json.is_object() ? '{' : '[';
    AppendItems(json, indent, out);
    *out += json.is_object() ? '}' : ']';
  } else if (json.is_number_float()) {
    AppendNumber(json.get<double>(), out);
  } else {
    *out += json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

}  // namespace

Json ParseJson(std::string_view text, const std::string& name) {
  std::vector<std::set<std::string>> keys;
  const auto check = [&](int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (depth > kMaxDepth) {
      Throw(ErrorCode::kBadData, "{}: JSON nested more than {} levels deep", name, kMaxDepth);
    }
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(parsed.get<std::string>()).second) {
      Throw(ErrorCode::kBadData,
            "{}: the field {} appears twice in one object",
            name,
            Excerpt(parsed));
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), check);
  } catch (const nlohmann::json::exception& error) {
    // Drop the library's own prefix up to "] ".
    std::string what = error.what();
    const size_t bracket = what.find("] ");
    if (bracket != std::string::npos) what = what.substr(bracket + 2);
    Throw(ErrorCode::kBadData, "{}: not valid JSON: {}", name, what);
  }
}

Json ReadJson(const std::string& path) { return ParseJson(ReadText(path, kMaxBytes), path); }

std::string DumpJson(const Json& json) {
  std::string out;
  Append(json, 0, &out);
  return out + "\n";
}

Json JsonNumber(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  return value;
}

Json JsonNumbers(std::span<const double> values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(JsonNumber(value));
  return json;
}

JsonObject::JsonObject(const Json& json, std::string where)
    : json_(json), where_(std::move(where)) {
  if (!json.is_object()) {
    Throw(ErrorCode::kBadData, "{}: found {}, an object is required", where_, Excerpt(json));
  }
}

bool JsonObject::Has(const std::string& key) {
  read_.push_back(key);
  return json_.contains(key) && !json_.at(key).is_null();
}

const Json& JsonObject::Any(const std::string& key) {
  read_.push_back(key);
  if (!json_.contains(key))
    Throw(ErrorCode::kBadData, "{}: the field \"{}\" is missing", where_, key);
  return json_.at(key);
}

const Json& JsonObject::Get(const std::string& key, const char* required) {
  const Json& value = Any(key);
  if (value.is_null()) Fail(key, required);
  return value;
}

void JsonObject::Fail(const std::string& key, const char* required) const {
  Throw(ErrorCode::kBadData,
        "{}: \"{}\" is {}, {} is required",
        where_,
        key,
        Excerpt(json_.at(key)),
        required);
}

void JsonObject::FailToParse(const std::string& key, const Error& error) const {
  Throw(ErrorCode::kBadData, "{}: \"{}\": {}", where_, key, error.what());
}

std::string JsonObject::String(const std::string& key) {
  const Json& value = Get(key, "a string");
  if (!value.is_string()) Fail(key, "a string");
  return value.get<std::string>();
}

std::string JsonObject::StringOr(const std::string& key, std::string fallback) {
  return Has(key) ? String(key) : std::move(fallback);
}

int64_t JsonObject::Integer(const std::string& key) {
  const Json& value = Get(key, "a whole number");
  if (!value.is_number_integer()) Fail(key, "a whole number");
  if (!FitsInt64(value)) Fail(key, "a whole number below 2^63");
  return value.get<int64_t>();
}

std::optional<int64_t> JsonObject::OptionalInteger(const std::string& key) {
  if (!Has(key)) return std::nullopt;
  return Integer(key);
}

std::optional<double> JsonObject::OptionalNumber(const std::string& key) {
  if (!Has(key)) return std::nullopt;
  return Number(key);
}

double JsonObject::Number(const std::string& key) {
  const Json& value = Get(key, "a number");
  if (!value.is_number()) Fail(key, "a number");
  return value.get<double>();
}

bool JsonObject::Bool(const std::string& key) {
  const Json& value = Get(key, "true or false");
  if (!value.is_boolean()) Fail(key, "true or false");
  return value.get<bool>();
}

const Json& JsonObject::Array(const std::string& key) {
  const Json& value = Get(key, "an array");
  if (!value.is_array()) Fail(key, "an array");
  return value;
}

const Json& JsonObject::Object(const std::string& key) {
  const Json& value = Get(key, "an object");
  if (!value.is_object()) Fail(key, "an object");
  return value;
}

std::vector<std::string> JsonObject::Strings(const std::string& key) {
  std::vector<std::string> strings;
  for (const Json& item : Array(key)) {
    if (!item.is_string()) Fail(key, "an array of strings");
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

std::vector<double> JsonObject::Numbers(const std::string& key) {
  std::vector<double> numbers;
  for (const Json& item : Array(key)) {
    if (!item.is_number()) Fail(key, "an array of numbers");
    numbers.push_back(item.get<double>());
  }
  return numbers;
}

std::vector<double> JsonObject::Numbers(const std::string& key, int64_t count) {
  std::vector<double> numbers = Numbers(key);
  if (static_cast<int64_t>(numbers.size()) != count) {
    Throw(ErrorCode::kBadData,
          "{}: {} has {} numbers, {} are required",
          where_,
          key,
          numbers.size(),
          count);
  }
  return numbers;
}

double JsonObject::AnyNumber(const std::string& key) {
  const std::optional<double> value = NumberFromJson(Any(key));
  if (!value) Fail(key, kAnyNumber);
  return *value;
}

std::vector<double> JsonObject::AnyNumbers(const std::string& key) {
  std::vector<double> numbers;
  for (const Json& item : Array(key)) {
    const std::optional<double> value = NumberFromJson(item);
    if (!value) Fail(key, "an array of numbers, null, \"inf\" or \"-inf\"");
    numbers.push_back(*value);
  }
  return numbers;
}

uint64_t JsonObject::Unsigned(const std::string& key) {
  const Json& value = Get(key, "a whole number from 0");
  if (!value.is_number_unsigned()) Fail(key, "a whole number from 0");
  return value.get<uint64_t>();
}

std::vector<int64_t> JsonObject::Integers(const std::string& key) {
  std::vector<int64_t> integers;
  for (const Json& item : Array(key)) {
    if (!item.is_number_integer() || !FitsInt64(item))
      Fail(key, "an array of whole numbers below 2^63");
    integers.push_back(item.get<int64_t>());
  }
  return integers;
}

void JsonObject::CheckFormat(const std::string& key, const char* what, int64_t version) {
  const int64_t found = Integer(key);
  if (found == version) return;
  Throw(ErrorCode::kUnsupported,
        "{}: {} format {}, this segcal reads {}",
        where_,
        what,
        found,
        version);
}

void JsonObject::Finish() const {
  for (const auto& [key, value] : json_.items()) {
    if (std::find(read_.begin(), read_.end(), key) == read_.end()) {
      Throw(ErrorCode::kBadData, "{}: unknown field \"{}\"", where_, key);
    }
  }
}

}  // namespace segcal
