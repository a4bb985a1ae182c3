// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "segcal/compare.h"

namespace segcal {
namespace {

// As one word for a shell of the POSIX kind.
std::string ShellWord(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_@%+=:,./-") == std::string::npos;
  if (plain) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::vector<std::string> RecommendedCommands(const std::string& folder,
                                             const std::string& dataset) {
  const auto in_folder = [&](const char* name) {
    return ShellWord((std::filesystem::path(folder) / name).string());
  };
  const std::string model = in_folder("recommended.json");
  const std::string data = ShellWord(dataset);
  return {fmt::format("segcal apply {} {} -o {}", model, data, in_folder("calibrated")),
          fmt::format("segcal verify {} {}", model, data),
          fmt::format("segcal export {} -o {}", model, in_folder("recommended.onnx"))};
}

}  // namespace segcal
