// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace segcal {

// Reads the code point at *position of a UTF-8 text and moves past it. A byte that starts no valid
// sequence (truncated, overlong, a surrogate) counts as one U+FFFD.
char32_t NextCodePoint(std::string_view text, size_t* position) noexcept;

// Valid UTF-8 without control characters, whatever came in: names come from files, and a control
// character would break a terminal line or an XML document. Controls become spaces.
std::string CleanText(std::string_view text);

// Terminal cells taken by clean text: 0 for combining marks, 2 for East Asian wide characters.
int64_t DisplayWidth(std::string_view text) noexcept;

// Width of clean text in pixels in a common sans-serif font; errs on the wide side.
double TextPixels(std::string_view text, double font_size) noexcept;

// Bold text is wider by about this factor; multiply the font size with it.
inline constexpr double kBoldWidth = 1.1;

// The text, or as much of its start as fits `max_pixels` with an ellipsis behind it.
std::string FitPixels(std::string_view text, double font_size, double max_pixels);

// Fixed decimals; NaN is an en dash, infinities are signed ∞, and there is no minus zero.
std::string FormatNumber(double value, int decimals);

// Three significant digits, for the ends of a scale: "0.5", "-12.3", "1.2e-05".
std::string FormatShort(double value);

// 1234567 as "1,234,567".
std::string FormatCount(int64_t count);

}  // namespace segcal
