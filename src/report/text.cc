// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace segcal {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct Range {
  char32_t first;
  char32_t last;
};

// Blocks, not single characters: enough for names in the scripts people write class names in.
constexpr Range kZeroWidth[] = {
    {0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
constexpr Range kWide[] = {{0x1100, 0x115F},
                           {0x2E80, 0xA4CF},
                           {0xAC00, 0xD7A3},
                           {0xF900, 0xFAFF},
                           {0xFE30, 0xFE4F},
                           {0xFF00, 0xFF60},
                           {0xFFE0, 0xFFE6},
                           {0x1F300, 0x1FAFF},
                           {0x20000, 0x3FFFD}};

template <size_t N>
bool IsIn(const Range (&ranges)[N], char32_t code) noexcept {
  return std::any_of(std::begin(ranges), std::end(ranges), [code](const Range& range) {
    return code >= range.first && code <= range.last;
  });
}

bool IsControl(char32_t code) noexcept {
  // Bidirectional overrides are controls here: they would reorder the rest of a table line. The
  // last two are not characters and not allowed in XML.
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xFFFE || code == 0xFFFF;
}

void AppendUtf8(char32_t code, std::string* out) {
  const auto put = [out](char32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

// Length of the sequence a lead byte announces; 0 for a byte that leads none.
size_t SequenceLength(unsigned char lead) noexcept {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

// Advance widths in em, rounded up from the widest of the usual system fonts.
double EmWidth(char32_t code) noexcept {
  constexpr std::string_view kNarrow = " .,:;'|!ijlI()[]/ft";
  constexpr std::string_view kBroad = "mwMW%@";
  if (IsIn(kZeroWidth, code)) return 0.0;
  if (IsIn(kWide, code)) return 1.0;
  if (code >= 0x80) return 0.7;
  const char c = static_cast<char>(code);
  if (kNarrow.find(c) != std::string_view::npos) return 0.38;
  if (kBroad.find(c) != std::string_view::npos) return 0.95;
  return c >= 'A' && c <= 'Z' ? 0.74 : 0.63;
}

}  // namespace

char32_t NextCodePoint(std::string_view text, size_t* position) noexcept {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t start = (*position)++;
  const size_t length = SequenceLength(byte(start));
  if (length == 1) return byte(start);
  if (length == 0 || start + length > text.size()) return kReplacement;
  char32_t code = byte(start) & (0x7Fu >> length);
  for (size_t i = start + 1; i < start + length; ++i) {
    if ((byte(i) & 0xC0u) != 0x80u) return kReplacement;
    code = (code << 6) | (byte(i) & 0x3Fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  if (overlong || surrogate || code > 0x10FFFF) return kReplacement;
  *position = start + length;
  return code;
}

std::string CleanText(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const char32_t code = NextCodePoint(text, &i);
    AppendUtf8(IsControl(code) ? U' ' : code, &clean);
  }
  return clean;
}

int64_t DisplayWidth(std::string_view text) noexcept {
  int64_t width = 0;
  for (size_t i = 0; i < text.size();) {
    const char32_t code = NextCodePoint(text, &i);
    width += IsIn(kZeroWidth, code) ? 0 : (IsIn(kWide, code) ? 2 : 1);
  }
  return width;
}

double TextPixels(std::string_view text, double font_size) noexcept {
  double ems = 0.0;
  for (size_t i = 0; i < text.size();) ems += EmWidth(NextCodePoint(text, &i));
  return ems * font_size;
}

std::string FitPixels(std::string_view text, double font_size, double max_pixels) {
  if (TextPixels(text, font_size) <= max_pixels) return std::string(text);
  double used = TextPixels("…", font_size);
  size_t end = 0;
  for (size_t i = 0; i < text.size(); end = i) {
    used += EmWidth(NextCodePoint(text, &i)) * font_size;
    if (used > max_pixels) break;
  }
  while (end > 0 && text[end - 1] == ' ') --end;
  return std::string(text.substr(0, end)) + "…";
}

std::string FormatNumber(double value, int decimals) {
  if (std::isnan(value)) return "–";
  if (std::isinf(value)) return value > 0 ? "∞" : "-∞";
  std::string digits = fmt::format("{:.{}f}", value, decimals);
  const bool is_minus_zero =
      digits[0] == '-' && digits.find_first_not_of("-0.") == std::string::npos;
  return is_minus_zero ? digits.substr(1) : digits;
}

std::string FormatShort(double value) {
  if (!std::isfinite(value)) return FormatNumber(value, 0);
  return fmt::format("{:.3g}", value == 0.0 ? 0.0 : value);
}

std::string FormatCount(int64_t count) {
  std::string digits = fmt::format("{}", count);
  const int64_t first = count < 0 ? 1 : 0;
  for (int64_t i = static_cast<int64_t>(digits.size()) - 3; i > first; i -= 3) {
    digits.insert(static_cast<size_t>(i), 1, ',');
  }
  return digits;
}

}  // namespace segcal
