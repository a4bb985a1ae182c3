// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace segcal {

// Options as a person writes them: key=value. Each method checks its own against its Fields.
using OptionMap = std::map<std::string, std::string>;

// What a value must satisfy beyond its type.
struct Constraint {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  bool above_lower = false;               // strictly
  std::vector<std::string> choices = {};  // for strings; empty: any
};
inline Constraint Any() { return {}; }
inline Constraint Positive() { return {.lower = 0.0, .above_lower = true}; }
inline Constraint AtLeast(double lower) { return {.lower = lower}; }
inline Constraint Between(double lower, double upper) { return {.lower = lower, .upper = upper}; }
inline Constraint OneOf(std::vector<std::string> choices) {
  return {.choices = std::move(choices)};
}

// Parsers for the field types; `where` is "ts: max_iterations" and starts the message of an error.
void ParseField(const std::string& where,
                const std::string& text,
                const Constraint& rule,
                double* value);
void ParseField(const std::string& where,
                const std::string& text,
                const Constraint& rule,
                int64_t* value);
void ParseField(const std::string& where,
                const std::string& text,
                const Constraint& rule,
                bool* value);
void ParseField(const std::string& where,
                const std::string& text,
                const Constraint& rule,
                std::string* value);
std::string FormatField(double value);
std::string FormatField(int64_t value);
std::string FormatField(bool value);
std::string FormatField(const std::string& value);

// The value with six digits: what a search tries is what it can write into a pipeline.
double SixDigits(double value);

[[noreturn]] void ThrowUnknownOption(const std::string& method,
                                     const std::string& key,
                                     const std::vector<std::string>& known);

// Options of a method from what a person wrote. Options is a plain struct whose defaults are its
// initialisers and whose static Fields(self, field) lists its fields once.
template <class Options>
Options ParseOptions(const std::string& method, const OptionMap& given) {
  Options options;
  std::vector<std::string> known;
  Options::Fields(options, [&](const char* name, auto& value, const Constraint& rule) {
    known.emplace_back(name);
    const auto it = given.find(name);
    if (it != given.end()) ParseField(method + ": " + name, it->second, rule, &value);
  });
  for (const auto& [key, text] : given) {
    bool found = false;
    for (const std::string& name : known) found = found || name == key;
    if (!found) ThrowUnknownOption(method, key, known);
  }
  return options;
}

// The options with their default values, for help.
template <class Options>
OptionMap DefaultOptions() {
  Options options;
  OptionMap map;
  Options::Fields(options, [&](const char* name, auto& value, const Constraint&) {
    map[name] = FormatField(value);
  });
  return map;
}

// For methods without options.
struct NoOptions {
  template <class Self, class Visitor>
  static void Fields(Self&, Visitor&&) {}
};

}  // namespace segcal
