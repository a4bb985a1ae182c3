// SPDX-License-Identifier: Apache-2.0
#include "page/assets.h"

#include "core/check.h"

namespace segcal {
namespace {

// What a module needs stands before it.
constexpr const char* kModules[] = {"planes.js",
                                    "element.js",
                                    "table.js",
                                    "switches.js",
                                    "picture.js",
                                    "panels.js",
                                    "readout.js",
                                    "explorer.js",
                                    "main.js"};

void AppendModule(std::string_view text, std::string* script) {
  constexpr std::string_view kExport = "export ";
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (line.starts_with("import ")) continue;
    if (line.starts_with(kExport)) line.remove_prefix(kExport.size());
    *script += line;
  }
}

}  // namespace

std::string_view PageStyle() noexcept { return FindAsset("page.css"); }

std::string PageScript() {
  std::string script;
  for (const char* name : kModules) AppendModule(FindAsset(name), &script);
  return script;
}

}  // namespace segcal
