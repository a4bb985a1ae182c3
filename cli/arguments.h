// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace segcal::cli {

// --seed: a whole number that is not negative.
CLI::Option* AddSeed(CLI::App& app, uint64_t* seed, const std::string& help);

// The command of that name; null where there is none.
const CLI::App* FindCommand(const CLI::App& app, const std::string& name);

// The arguments of a command, in order, with an option's name before each of its values: of
// "-m a b", "-m a -m b". An option that can be given several times takes every name after it, as a
// shell makes them of models/*.json, but for those that the command needs for itself: the last
// ones.
std::vector<std::string> RepeatOptions(const CLI::App& command, std::vector<std::string> arguments);

// What to say of arguments that cannot be understood, with the way to help.
std::string ParseMessage(const CLI::App& app, const CLI::Error& error);

// The command that was named: what NameFlags speaks of. It must live as long as messages come.
void SetCommand(const CLI::App* command) noexcept;

// A message of the library, which speaks of options, with the names that the command has for them:
// of "option skip_bad", "--skip-bad", and of "option key of index", "segcal index --key".
std::string NameFlags(const std::string& message);

}  // namespace segcal::cli
