// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json_fwd.h"
#include "segcal/error.h"

namespace segcal {

// Parses strictly: no comments, no duplicate keys, at most 64 levels deep. `name` is the file, for
// messages.
Json ParseJson(std::string_view text, const std::string& name);

// Reads and parses a JSON file of at most 1 GiB.
Json ReadJson(const std::string& path);

// Text of a JSON value: two spaces of indent, arrays of scalars on one line, numbers as the
// shortest decimal that reads back to the same double, non-finite numbers as null. Ends with a
// newline.
std::string DumpJson(const Json& json);

// A number; null where it is NaN, "inf" or "-inf" where it is infinite: JSON has none of them.
Json JsonNumber(double value);
Json JsonNumbers(std::span<const double> values);

// An array of what `write` makes of every item.
template <class Item, class Write>
Json JsonItems(const std::vector<Item>& items, const Write& write) {
  Json json = Json::array();
  for (const Item& item : items) json.push_back(write(item));
  return json;
}

// Strict access to the fields of an object: wrong types, missing and unknown fields are errors that
// name the file and the field.
class JsonObject {
 public:
  // `where` names the object in messages: "dataset.json: cases[3]".
  JsonObject(const Json& json, std::string where);

  bool Has(const std::string& key);  // present and not null; counts as read
  std::string String(const std::string& key);
  std::string StringOr(const std::string& key, std::string fallback);
  int64_t Integer(const std::string& key);
  std::optional<int64_t> OptionalInteger(const std::string& key);
  double Number(const std::string& key);
  std::optional<double> OptionalNumber(const std::string& key);
  bool Bool(const std::string& key);
  std::vector<std::string> Strings(const std::string& key);
  std::vector<double> Numbers(const std::string& key);
  std::vector<double> Numbers(const std::string& key, int64_t count);  // so many, no others
  // As JsonNumber writes them.
  double AnyNumber(const std::string& key);
  std::vector<double> AnyNumbers(const std::string& key);
  uint64_t Unsigned(const std::string& key);
  std::vector<int64_t> Integers(const std::string& key);
  const Json& Array(const std::string& key);
  // What `read(item, where)` makes of every item of an array; `where` names the item.
  template <class Read>
  auto Items(const std::string& key, const Read& read) {
    std::vector<decltype(read(Json(), key))> items;
    for (const Json& item : Array(key))
      items.push_back(read(item, where_ + ": " + key + "[" + std::to_string(items.size()) + "]"));
    return items;
  }
  const Json& Object(const std::string& key);
  const Json& Any(const std::string& key);
  // A string as `parse` understands it; an Error of `parse` gets this object's place.
  template <class Parser>
  auto Parse(const std::string& key, const Parser& parse) {
    const std::string text = String(key);
    try {
      return parse(text);
    } catch (const Error& error) {
      FailToParse(key, error);
    }
  }
  // The number of the file's format; another one than `version` is an Error about a `what`.
  void CheckFormat(const std::string& key, const char* what, int64_t version);

  // Call last: an unread field is an error, because it is a misspelt one.
  void Finish() const;
  const std::string& where() const noexcept { return where_; }

 private:
  const Json& Get(const std::string& key, const char* required);
  [[noreturn]] void Fail(const std::string& key, const char* required) const;
  [[noreturn]] void FailToParse(const std::string& key, const Error& error) const;

  const Json& json_;
  std::string where_;
  std::vector<std::string> read_;
};

}  // namespace segcal
