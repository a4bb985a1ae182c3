// SPDX-License-Identifier: Apache-2.0
#include "parts/state_file.h"

#include <algorithm>
#include <charconv>

#include "core/text_hash.h"
#include "core/throw.h"

namespace segcal {
namespace {

constexpr const char* kMark = "segcal part ";
constexpr const char* kVersionMark = "segcal part 1 ";
constexpr const char* kSizes = "sums";

struct FirstLine {
  size_t following = 0;
  size_t text = 0;
  uint64_t hash = 0;
};

// The next number of a line; what is no number leaves `ok` false.
uint64_t TakeNumber(std::string_view* line, int base, bool* ok) {
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(line->data(), line->data() + line->size(), number, base);
  *ok = *ok && error == std::errc();
  line->remove_prefix(static_cast<size_t>(end - line->data()));
  if (line->starts_with(' ')) line->remove_prefix(1);
  return number;
}

FirstLine ReadFirstLine(std::string_view line, const std::string& where) {
  if (!line.starts_with(kMark)) {
    Throw(ErrorCode::kBadData,
          "{}: is not the state of a part, as --part and --state write it",
          where);
  }
  if (!line.starts_with(kVersionMark)) {
    Throw(ErrorCode::kBadData,
          "{}: starts with \"{}\"; a part of another format, \"{}\" is required",
          where,
          line.substr(0, std::min<size_t>(line.size(), 20)),
          kVersionMark);
  }
  line.remove_prefix(std::string_view(kVersionMark).size());
  bool ok = true;
  FirstLine first;
  first.following = TakeNumber(&line, 10, &ok);
  first.text = TakeNumber(&line, 10, &ok);
  first.hash = TakeNumber(&line, 16, &ok);
  if (!ok || !line.empty() || first.text > first.following)
    Throw(ErrorCode::kBadData, "{}: its first line is damaged", where);
  return first;
}

void CheckBody(std::string_view body, const FirstLine& first, const std::string& where) {
  if (body.size() != first.following) {
    Throw(ErrorCode::kBadData,
          "{}: is {}: {} bytes after its first line, {} are required; run that part again",
          where,
          body.size() < first.following ? "cut short" : "damaged",
          body.size(),
          first.following);
  }
  if (HashText(body) != first.hash) {
    Throw(ErrorCode::kBadData,
          "{}: is damaged: its checksum is {:016x}, {:016x} is required; run that part again",
          where,
          HashText(body),
          first.hash);
  }
}

// The bytes after the text, as many strings as it says.
std::vector<std::string> SplitBytes(std::string_view bytes, Json* text, const std::string& where) {
  std::vector<std::string> strings;
  for (const int64_t size : JsonObject(*text, where).Integers(kSizes)) {
    if (size < 0 || static_cast<size_t>(size) > bytes.size())
      Throw(ErrorCode::kBadData, "{}: sums of {} bytes, {} are left", where, size, bytes.size());
    strings.emplace_back(bytes.substr(0, static_cast<size_t>(size)));
    bytes.remove_prefix(static_cast<size_t>(size));
  }
  if (!bytes.empty()) Throw(ErrorCode::kBadData, "{}: {} bytes too many", where, bytes.size());
  text->erase(kSizes);
  return strings;
}

}  // namespace

std::string WriteStateFile(const StateFile& file) {
  Json text = file.text;
  text[kSizes] = JsonItems(file.bytes, [](const std::string& bytes) { return bytes.size(); });
  std::string body = DumpJson(text);
  const size_t text_size = body.size();
  for (const std::string& bytes : file.bytes) body += bytes;
  return fmt::format("{}{} {} {:016x}\n", kVersionMark, body.size(), text_size, HashText(body)) +
         body;
}

StateFile ReadStateFile(const std::string& content, const std::string& where) {
  const std::string_view all = content;
  const size_t end = std::min(all.find('\n'), all.size());
  const FirstLine first = ReadFirstLine(all.substr(0, end), where);
  const std::string_view body = all.substr(std::min(end + 1, all.size()));
  CheckBody(body, first, where);
  StateFile file;
  file.text = ParseJson(body.substr(0, first.text), where);
  file.bytes = SplitBytes(body.substr(first.text), &file.text, where);
  return file;
}

}  // namespace segcal
