// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace segcal {

// The style sheet of the page, web/page.css.
std::string_view PageStyle() noexcept;

// The modules of web/ as one: in the order they need each other, without their import lines and
// the word export.
std::string PageScript();

// What cmake/SegcalEmbed.cmake makes of web/: a name and the text of every file.
struct Asset {
  const char* name;
  const char* text;
};
std::string_view FindAsset(std::string_view name) noexcept;

}  // namespace segcal
