// SPDX-License-Identifier: Apache-2.0
#include "data/file_pattern.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>

#include "core/throw.h"

namespace segcal {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFields[] = {"case", "member", "class", "group"};

// A part of a pattern: text as it stands, a star, or a field with its name.
struct Piece {
  enum class Kind { kText, kStar, kField } kind;
  std::string text;
};

Piece Field(const std::string& pattern, const std::string& name) {
  if (std::find(std::begin(kFields), std::end(kFields), name) == std::end(kFields)) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: unknown field {{{}}}; there are {{case}}, {{member}}, {{class}}, {{group}}",
          pattern,
          name);
  }
  return {Piece::Kind::kField, name};
}

std::vector<Piece> Parse(const std::string& pattern) {
  std::vector<Piece> pieces;
  for (size_t begin = 0; begin < pattern.size();) {
    size_t end = begin + 1;
    if (pattern[begin] == '*') {
      // Stars in a row match what one does, but in very many ways.
      end = std::min(pattern.find_first_not_of('*', begin), pattern.size());
      pieces.push_back({Piece::Kind::kStar, "*"});
    } else if (pattern[begin] == '{') {
      const size_t close = pattern.find('}', begin);
      if (close == std::string::npos)
        Throw(ErrorCode::kInvalidArgument, "{}: a {{ without }}", pattern);
      pieces.push_back(Field(pattern, pattern.substr(begin + 1, close - begin - 1)));
      end = close + 1;
    } else {
      end = std::min(pattern.find_first_of("{*", begin), pattern.size());
      pieces.push_back({Piece::Kind::kText, pattern.substr(begin, end - begin)});
    }
    begin = end;
  }
  return pieces;
}

using Values = std::map<std::string, std::string>;

// Whether `path` has the form of `pieces`, of which fields with a value stand for that value; adds
// those of the others. A star takes as much as it can, a field as little.
bool Matches(std::span<const Piece> pieces, std::string_view path, Values* values) {
  if (pieces.empty()) return path.empty();
  const Piece& piece = pieces.front();
  const auto rest_matches = [&](size_t taken) {
    return Matches(pieces.subspan(1), path.substr(taken), values);
  };
  const auto is_text = [&](const std::string& text) {
    return path.starts_with(text) && rest_matches(text.size());
  };
  if (piece.kind == Piece::Kind::kText) return is_text(piece.text);
  const size_t room = std::min(path.find('/'), path.size());
  if (piece.kind == Piece::Kind::kStar) {
    for (size_t taken = room + 1; taken-- > 0;) {
      if (rest_matches(taken)) return true;
    }
    return false;
  }
  const auto known = values->find(piece.text);
  if (known != values->end()) return is_text(known->second);
  for (size_t taken = 1; taken <= room; ++taken) {
    (*values)[piece.text] = path.substr(0, taken);
    if (rest_matches(taken)) return true;
  }
  values->erase(piece.text);
  return false;
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
  const std::vector<Piece> pieces = Parse(pattern);
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
    PatternMatch match{.path = Spelled(it->path(), pattern), .values = {}};
    if (Matches(pieces, match.path, &match.values)) matches.push_back(std::move(match));
  }
  if (error)
    Throw(ErrorCode::kIo, "{}: cannot list the folder: {}", folder.string(), error.message());
  std::sort(matches.begin(), matches.end(), [](const auto& a, const auto& b) {
    return NaturalLess(a.path, b.path);
  });
  return matches;
}

}  // namespace segcal
