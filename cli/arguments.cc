// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <regex>

#include "cli/throw.h"

namespace segcal::cli {
namespace {

const CLI::App* g_command = nullptr;

// Empty where `text` is a seed. Zeros in front, which CLI11 would take for octal, are taken off.
std::string CheckSeed(std::string& text) {
  uint64_t seed = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size())
    return fmt::format("\"{}\", a whole number in [0, {}] is required", text, UINT64_MAX);
  text = std::to_string(seed);
  return {};
}

// One argument, and what it is to the command.
struct Argument {
  std::string text;
  std::string repeats;  // the option that may be given again and that it follows; else empty
  bool is_name = false;
};

bool LooksLikeOption(const std::string& text) { return text.size() > 1 && text[0] == '-'; }

// Of what is misspelt CLI11 would only say that something else is missing.
void CheckOption(const CLI::App& command, const std::string& text) {
  if (!text.starts_with("--") || text == "--") return;
  const std::string name = text.substr(0, text.find('='));
  if (command.get_option_no_throw(name) != nullptr) return;
  Throw(ErrorCode::kInvalidArgument,
        "unknown option {}; segcal {} --help lists what there is",
        name,
        command.get_name());
}

// Takes the option at the front of `left` with its value; whether it can be given several times.
bool TakeOption(const CLI::App& command,
                std::vector<std::string>::const_iterator* next,
                std::vector<std::string>::const_iterator end,
                std::vector<Argument>* out) {
  const std::string name = *(*next)++;
  out->push_back({.text = name, .repeats = {}});
  const CLI::Option* option = command.get_option_no_throw(name);
  CheckOption(command, name);
  // "--model=a", "-ma" and flags.
  if (option == nullptr || option->get_items_expected_min() == 0) return false;
  if (*next != end) out->push_back({.text = *(*next)++, .repeats = {}});
  // Commas are the other way to give several.
  return option->get_expected_max() > 1 && option->get_delimiter() == '\0';
}

std::vector<Argument> Classify(const CLI::App& command, const std::vector<std::string>& arguments) {
  std::vector<Argument> out;
  std::string repeats;
  for (auto next = arguments.begin(); next != arguments.end();) {
    if (LooksLikeOption(*next)) {
      const std::string name = *next;
      repeats = TakeOption(command, &next, arguments.end(), &out) ? name : "";
    } else {
      out.push_back({.text = *next++, .repeats = repeats, .is_name = true});
    }
  }
  return out;
}

// How many names the command cannot do without.
int64_t CountRequired(const CLI::App& command) {
  const auto options = command.get_options(
      [](const CLI::Option* o) { return o->get_positional() && o->get_required(); });
  return static_cast<int64_t>(options.size());
}

// Leaves the command the names it needs: those that follow no such option, then the last ones.
void LeaveRequired(int64_t required, std::vector<Argument>* arguments) {
  required -= std::count_if(arguments->begin(), arguments->end(), [](const Argument& a) {
    return a.is_name && a.repeats.empty();
  });
  for (auto it = arguments->rbegin(); it != arguments->rend() && required > 0; ++it) {
    if (!it->is_name || it->repeats.empty()) continue;
    it->repeats.clear();
    --required;
  }
}

// The command that was named, else the program.
const CLI::App& NamedCommand(const CLI::App& app) {
  const auto named = app.get_subcommands();
  return named.empty() ? app : *named.front();
}

// What the command line has for an option of the command that was named, or of another one; empty
// where there is none.
std::string FindFlag(const std::string& option, const std::string& other) {
  if (g_command == nullptr) return {};
  std::string flag = "--" + option;
  std::replace(flag.begin(), flag.end(), '_', '-');
  const CLI::App* command = FindCommand(*g_command->get_parent(), other);
  if (command != nullptr && command->get_option_no_throw(flag) != nullptr)
    return command == g_command ? flag : fmt::format("segcal {} {}", other, flag);
  return g_command->get_option_no_throw(flag) != nullptr ? flag : "";
}

}  // namespace

CLI::Option* AddSeed(CLI::App& app, uint64_t* seed, const std::string& help) {
  return app.add_option("--seed", *seed, help)
      ->transform(CLI::Validator(CheckSeed, ""))
      ->capture_default_str();
}

std::vector<std::string> RepeatOptions(const CLI::App& command,
                                       std::vector<std::string> arguments) {
  std::vector<Argument> classified = Classify(command, arguments);
  LeaveRequired(CountRequired(command), &classified);
  std::vector<std::string> out;
  for (Argument& argument : classified) {
    if (!argument.repeats.empty()) out.push_back(argument.repeats);
    out.push_back(std::move(argument.text));
  }
  return out;
}

std::string ParseMessage(const CLI::App& app, const CLI::Error& error) {
  const CLI::App& command = NamedCommand(app);
  const std::string name = command.get_parent() == nullptr ? "" : " " + command.get_name();
  return fmt::format("segcal: {}\nsegcal{} --help lists what there is\n", error.what(), name);
}

const CLI::App* FindCommand(const CLI::App& app, const std::string& name) {
  const auto found =
      app.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

void SetCommand(const CLI::App* command) noexcept { g_command = command; }

std::string NameFlags(const std::string& message) {
  static const std::regex pattern("option ([a-z_]+)( of ([a-z]+))?");
  std::string named;
  auto rest = message.begin();
  for (std::sregex_iterator it(message.begin(), message.end(), pattern), end; it != end; ++it) {
    const std::string flag = FindFlag((*it)[1], (*it)[3]);
    if (flag.empty()) continue;
    named.append(rest, (*it)[0].first).append(flag);
    // "of" was that of the sentence.
    rest = flag[0] == '-' ? (*it)[1].second : (*it)[0].second;
  }
  return named.append(rest, message.end());
}

}  // namespace segcal::cli
