// SPDX-License-Identifier: Apache-2.0
#include "data/file_pattern.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>

#include "core/throw.h"

namespace segcal {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFields[] = {"case", "member", "group"};

struct Compiled {
  std::regex regex;
  std::vector<std::string> names;  // of the capture groups
};

void AppendField(const std::string& pattern,
                 const std::string& name,
                 std::string* regex,
                 std::vector<std::string>* names) {
  if (std::find(std::begin(kFields), std::end(kFields), name) == std::end(kFields)) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: unknown field {{{}}}; there are {{case}}, {{member}}, {{group}}",
          pattern,
          name);
  }
  const auto seen = std::find(names->begin(), names->end(), name);
  if (seen != names->end()) {
    *regex += fmt::format("\\{}", seen - names->begin() + 1);
    return;
  }
  names->push_back(name);
  *regex += "([^/]+?)";
}

Compiled Compile(const std::string& pattern) {
  Compiled compiled;
  std::string regex;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '{') {
      const size_t close = pattern.find('}', i);
      if (close == std::string::npos)
        Throw(ErrorCode::kInvalidArgument, "{}: a {{ without }}", pattern);
      AppendField(pattern, pattern.substr(i + 1, close - i - 1), &regex, &compiled.names);
      i = close;
    } else if (c == '*') {
      regex += "[^/]*";
    } else {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '/' && c != '_') regex += '\\';
      regex += c;
    }
  }
  compiled.regex = std::regex(regex);
  return compiled;
}

// The folder before the first field or star.
fs::path FixedFolder(const std::string& pattern) {
  const fs::path prefix(pattern.substr(0, pattern.find_first_of("{*")));
  const fs::path folder = prefix.has_filename() ? prefix.parent_path() : prefix;
  return folder.empty() ? fs::path(".") : folder;
}

// Slashes of the pattern up to and including the one after its fixed folder.
int64_t FixedSlashes(const std::string& pattern) {
  const std::string fixed = pattern.substr(0, pattern.find_first_of("{*"));
  return std::count(fixed.begin(), fixed.end(), '/');
}

// Paths as the pattern spells them: without the "./" that iterating over "." adds.
std::string Spelled(const fs::path& path, const std::string& pattern) {
  const std::string text = path.string();
  return pattern.starts_with("./") || !text.starts_with("./") ? text : text.substr(2);
}

}  // namespace

bool NaturalLess(const std::string& a, const std::string& b) {
  size_t i = 0;
  size_t j = 0;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const auto run_end = [&](const std::string& s, size_t k) {
        while (k < s.size() && is_digit(s[k])) ++k;
        return k;
      };
      const size_t ia = std::min(a.find_first_not_of('0', i), run_end(a, i));
      const size_t jb = std::min(b.find_first_not_of('0', j), run_end(b, j));
      const std::string na = a.substr(ia, run_end(a, i) - ia);
      const std::string nb = b.substr(jb, run_end(b, j) - jb);
      if (na.size() != nb.size()) return na.size() < nb.size();
      if (na != nb) return na < nb;
      i = run_end(a, i);
      j = run_end(b, j);
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j || (a.size() - i == b.size() - j && a < b);
}

std::vector<PatternMatch> FindFiles(const std::string& pattern) {
  const Compiled compiled = Compile(pattern);
  std::vector<PatternMatch> matches;
  const fs::path folder = FixedFolder(pattern);
  if (!fs::is_directory(folder)) return matches;
  // Below the depth of the pattern nothing can match, and links could lead round in circles.
  const auto levels = std::count(pattern.begin(), pattern.end(), '/') - FixedSlashes(pattern);
  const auto options = fs::directory_options::follow_directory_symlink |
                       fs::directory_options::skip_permission_denied;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, options, error), end; it != end;
       it.increment(error)) {
    if (it.depth() >= levels) it.disable_recursion_pending();
    std::error_code gone;  // a file that vanished meanwhile, or a broken link
    if (!it->is_regular_file(gone)) continue;
    const std::string path = Spelled(it->path(), pattern);
    std::smatch found;
    if (!std::regex_match(path, found, compiled.regex)) continue;
    PatternMatch match{.path = path, .values = {}};
    for (size_t g = 0; g < compiled.names.size(); ++g)
      match.values[compiled.names[g]] = found[g + 1].str();
    matches.push_back(std::move(match));
  }
  if (error)
    Throw(ErrorCode::kIo, "{}: cannot list the folder: {}", folder.string(), error.message());
  std::sort(matches.begin(), matches.end(), [](const auto& a, const auto& b) {
    return NaturalLess(a.path, b.path);
  });
  return matches;
}

}  // namespace segcal
