// SPDX-License-Identifier: Apache-2.0
#include "data/index_files.h"

#include <algorithm>
#include <filesystem>

#include "core/throw.h"

namespace segcal {
namespace {

void CheckHasCase(const std::string& pattern) {
  if (pattern.find("{case}") == std::string::npos) {
    Throw(ErrorCode::kInvalidArgument, "{}: the pattern must contain {{case}}", pattern);
  }
}

std::string RelativeTo(const std::string& folder, const std::string& path) {
  return std::filesystem::proximate(path, folder.empty() ? "." : folder).string();
}

FilesByCase FindByCase(const std::string& pattern) {
  CheckHasCase(pattern);
  FilesByCase found;
  for (PatternMatch& match : FindFiles(pattern)) {
    const std::string id = match.values.at("case");
    const auto [it, fresh] = found.emplace(id, match);
    if (!fresh) {
      Throw(ErrorCode::kInvalidArgument,
            "{}: two files for case \"{}\": {} and {}",
            pattern,
            id,
            it->second.path,
            match.path);
    }
  }
  return found;
}

// Members in natural order.
std::vector<MemberFiles> FindMembers(const std::vector<std::string>& patterns) {
  std::vector<MemberFiles> members;
  for (const std::string& pattern : patterns) {
    CheckHasCase(pattern);
    const size_t before = members.size();
    for (PatternMatch& match : FindFiles(pattern)) {
      const auto named = match.values.find("member");
      const std::string name = named == match.values.end() ? pattern : named->second;
      auto member = std::find_if(
          members.begin(), members.end(), [&](const auto& m) { return m.name == name; });
      if (member == members.end()) member = members.insert(members.end(), {name, {}});
      const std::string id = match.values.at("case");
      if (!member->files.emplace(id, match).second) {
        Throw(ErrorCode::kInvalidArgument,
              "{}: case \"{}\" has two files, {} and {}: make the pattern narrower, or let "
              "{{member}} "
              "tell them apart",
              pattern,
              id,
              member->files.at(id).path,
              match.path);
      }
    }
    if (members.size() == before) {
      Throw(ErrorCode::kIo,
            "{}: no file matches; a pattern that does not begin with / begins at {}",
            pattern,
            std::filesystem::current_path().string());
    }
    std::sort(members.begin() + static_cast<std::ptrdiff_t>(before),
              members.end(),
              [](const auto& a, const auto& b) { return NaturalLess(a.name, b.name); });
  }
  return members;
}

// The file of case `id`, relative; empty if there is none and that is allowed.
std::string Lookup(const FilesByCase& files,
                   const std::string& pattern,
                   const Case& c,
                   bool allow_missing,
                   const Dataset& dataset) {
  if (pattern.empty()) return {};
  const auto it = files.find(c.id);
  if (it != files.end()) return RelativeTo(dataset.folder, it->second.path);
  if (allow_missing) return {};
  Throw(ErrorCode::kIo,
        "{}: no file for case \"{}\" (use --allow-missing to go on without it)",
        pattern,
        c.id);
}

}  // namespace

void IndexFiles(const IndexPatterns& patterns, bool allow_missing, Dataset* dataset) {
  IndexMembers(FindMembers(patterns.members), patterns, allow_missing, dataset);
}

void IndexMembers(const std::vector<MemberFiles>& members,
                  const IndexPatterns& patterns,
                  bool allow_missing,
                  Dataset* dataset) {
  const auto find = [](const std::string& pattern) {
    return pattern.empty() ? FilesByCase{} : FindByCase(pattern);
  };
  const FilesByCase labels = find(patterns.labels);
  const FilesByCase images = find(patterns.images);
  const FilesByCase masks = find(patterns.masks);
  std::vector<std::string> ids;
  for (const auto& [id, match] : members.front().files) ids.push_back(id);
  std::sort(ids.begin(), ids.end(), NaturalLess);
  for (const std::string& id : ids) {
    Case c;
    c.id = id;
    for (const auto& [name, files] : members) {
      const auto it = files.find(id);
      if (it == files.end())
        Throw(ErrorCode::kIo, "case \"{}\" has no file of member {}", id, name);
      c.members.push_back(RelativeTo(dataset->folder, it->second.path));
      const auto group = it->second.values.find("group");
      if (group != it->second.values.end()) c.group = group->second;
    }
    c.labels = Lookup(labels, patterns.labels, c, allow_missing, *dataset);
    c.image = Lookup(images, patterns.images, c, allow_missing, *dataset);
    c.mask = Lookup(masks, patterns.masks, c, allow_missing, *dataset);
    dataset->cases.push_back(std::move(c));
  }
  for (const auto& [name, files] : members) {
    for (const auto& [id, match] : files) {
      if (!members.front().files.contains(id)) {
        Throw(ErrorCode::kIo, "case \"{}\" has no file of member {}", id, members.front().name);
      }
    }
  }
}

}  // namespace segcal
