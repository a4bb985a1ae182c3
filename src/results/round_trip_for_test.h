// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/json.h"
#include "segcal/error.h"
#include "tests/support/errors.h"

namespace segcal::testing {

// Whether two results have the same fields: numbers by their bits, but that any NaN is any other.
// A struct takes part by a function Fields that lists its fields by a structured binding, which
// stops compiling when a field is added.
template <class T>
bool SameFields(const T& a, const T& b);

inline bool Same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}
template <class T>
requires std::integral<T> || std::same_as<T, std::string>
bool Same(const T& a, const T& b) { return a == b; }
template <class T>
requires std::is_enum_v<T>
bool Same(T a, T b) { return a == b; }
template <class T>
requires requires(const T& x) { Fields(x); }
bool Same(const T& a, const T& b) { return SameFields(a, b); }
template <class T>
bool Same(const std::optional<T>& a, const std::optional<T>& b) {
  return a.has_value() == b.has_value() && (!a || Same(*a, *b));
}
template <class T>
bool Same(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Same(a[i], b[i])) return false;
  }
  return true;
}
template <class T>
bool Same(const std::map<std::string, T>& a, const std::map<std::string, T>& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a) {
    const auto other = b.find(key);
    if (other == b.end() || !Same(value, other->second)) return false;
  }
  return true;
}

template <class T>
bool SameFields(const T& a, const T& b) {
  bool same = true;
  [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    const auto mine = Fields(a);
    const auto other = Fields(b);
    const auto check = [&](size_t index, bool equal) {
      EXPECT_TRUE(equal) << "field " << index << " of " << typeid(T).name();
      same = same && equal;
    };
    (check(kIndex, Same(std::get<kIndex>(mine), std::get<kIndex>(other))), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(Fields(a))>>());
  return same;
}

// Written, read and written again, a result has the same bytes and fields.
template <class Result, class Read>
void ExpectRoundTrip(const Result& result, const Read& read) {
  const std::string text = ToJson(result);
  const Result again = read(text, "text");
  EXPECT_EQ(ToJson(again), text);
  EXPECT_TRUE(Same(again, result));
}

// Calls `visit` with the place of every field of a value, of arrays the first item alone.
inline void VisitFields(const Json& json,
                        const Json::json_pointer& at,
                        const std::function<void(const Json::json_pointer&)>& visit) {
  if (json.is_array() && !json.empty()) VisitFields(json[0], at / 0, visit);
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items()) {
    visit(at / key);
    VisitFields(value, at / key, visit);
  }
}

// Nothing but what ToJson writes is read: a value of another type anywhere, a field that `required`
// names missing, a field too many, another version, text cut short or followed by more is an Error
// that starts with the name of the text.
template <class Result, class Read>
void ExpectStrict(const Result& result,
                  const Read& read,
                  const std::string& version_key,
                  const std::vector<std::string>& required) {
  const std::string text = ToJson(result);
  const Json good = ParseJson(text, "text");
  const auto refused = [&](const Json& json, ErrorCode code, const std::string& part) {
    ExpectError(code, {"the file: ", part}, [&] { read(DumpJson(json), "the file"); });
  };
  int64_t visited = 0;
  VisitFields(good, Json::json_pointer(), [&](const Json::json_pointer& at) {
    SCOPED_TRACE(at.to_string());
    Json bad = good;
    bad[at] = good[at].is_boolean() ? Json(7) : Json(true);
    refused(bad, ErrorCode::kBadData, "");
    ++visited;
  });
  EXPECT_GT(visited, 10);
  for (const std::string& place : required) {
    SCOPED_TRACE(place);
    Json bad = good;
    const Json::json_pointer at(place);
    ASSERT_TRUE(bad.contains(at));
    bad[at.parent_pointer()].erase(at.back());
    refused(bad, ErrorCode::kBadData, "\"" + at.back() + "\" is missing");
    bad = good;
    bad[at.parent_pointer() / "surplus"] = 1;
    refused(bad, ErrorCode::kBadData, "unknown field \"surplus\"");
  }
  Json other = good;
  other[version_key] = 99;
  refused(other, ErrorCode::kUnsupported, "format 99, this segcal reads 1");
  for (const std::string& bad : {text.substr(0, text.size() / 2), text + "{}", text + "x"})
    ExpectError(ErrorCode::kBadData, {"the file: not valid JSON"}, [&] { read(bad, "the file"); });
}

}  // namespace segcal::testing
