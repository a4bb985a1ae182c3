// SPDX-License-Identifier: Apache-2.0
#include "data/index_files.h"

#include <algorithm>
#include <filesystem>

#include "core/throw.h"
#include "data/file_pattern.h"

namespace segcal {
namespace {

using Names = std::vector<std::string>;

void CheckHasCase(const std::string& pattern, const IndexRules& rules) {
  if (!rules.batch && pattern.find("{case}") == std::string::npos) {
    Throw(ErrorCode::kInvalidArgument, "{}: the pattern must contain {{case}}", pattern);
  }
}

std::string RelativeTo(const std::string& folder, const std::string& path) {
  return std::filesystem::proximate(path, folder.empty() ? "." : folder).string();
}

// What a field stood for; empty where the pattern has none.
std::string Value(const PatternMatch& match, const char* field) {
  const auto it = match.values.find(field);
  return it == match.values.end() ? "" : it->second;
}

// Adds a file to those of its case; false if there is one in its place already.
bool AddFile(const PatternMatch& match, FilesByCase* files) {
  const auto [it, fresh] = files->try_emplace(Value(match, "case"));
  if (fresh) it->second = {.path = match.path, .by_class = {}, .group = Value(match, "group")};
  const std::string name = Value(match, "class");
  return name.empty() ? fresh : it->second.by_class.emplace(name, match.path).second;
}

FilesByCase FindByCase(const std::string& pattern, const IndexRules& rules) {
  if (pattern.empty()) return {};
  CheckHasCase(pattern, rules);
  FilesByCase found;
  for (const PatternMatch& match : FindFiles(pattern)) {
    if (AddFile(match, &found)) continue;
    const std::string id = Value(match, "case");
    Throw(ErrorCode::kInvalidArgument,
          "{}: two files for case \"{}\": {} and {}",
          pattern,
          id,
          found.at(id).path,
          match.path);
  }
  return found;
}

// Adds the files of one pattern to the members they belong to.
void AddMembers(const std::string& pattern, std::vector<MemberFiles>* members) {
  for (const PatternMatch& match : FindFiles(pattern)) {
    const std::string named = Value(match, "member");
    const std::string& name = named.empty() ? pattern : named;
    auto member = std::find_if(
        members->begin(), members->end(), [&](const auto& m) { return m.name == name; });
    if (member == members->end()) member = members->insert(members->end(), {name, {}});
    if (AddFile(match, &member->files)) continue;
    const std::string id = Value(match, "case");
    Throw(ErrorCode::kInvalidArgument,
          "{}: case \"{}\" has two files, {} and {}: make the pattern narrower, or let {{member}} "
          "tell them apart",
          pattern,
          id,
          member->files.at(id).path,
          match.path);
  }
}

// Members in natural order.
std::vector<MemberFiles> FindMembers(const Names& patterns, const IndexRules& rules) {
  std::vector<MemberFiles> members;
  for (const std::string& pattern : patterns) {
    CheckHasCase(pattern, rules);
    const size_t before = members.size();
    AddMembers(pattern, &members);
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

bool IsNumber(const std::string& text) {
  return text.find_first_not_of("0123456789") == std::string::npos;
}

// In which order the files of classes are stacked; empty where there is one file for all.
Names ClassOrder(const CaseMatch& first, Dataset* dataset) {
  Names order;
  for (const auto& [name, path] : first.by_class) order.push_back(name);
  if (order.empty()) return order;
  std::sort(order.begin(), order.end(), NaturalLess);
  if (dataset->classes.empty()) {
    if (!std::all_of(order.begin(), order.end(), IsNumber)) dataset->classes = order;
    return order;
  }
  if (order.size() != dataset->classes.size()) {
    Throw(ErrorCode::kBadData,
          "{}: files of {} classes ({}), the data set has {}",
          first.path,
          order.size(),
          fmt::join(order, ", "),
          dataset->classes.size());
  }
  const bool by_name = std::is_permutation(order.begin(), order.end(), dataset->classes.begin());
  return by_name ? dataset->classes : order;
}

ArraySource SourceOf(const CaseMatch& match,
                     const std::string& id,
                     const Names& classes,
                     const Dataset& dataset) {
  if (match.by_class.empty()) return RelativeTo(dataset.folder, match.path);
  Names paths;
  for (const std::string& name : classes) {
    const auto it = match.by_class.find(name);
    if (it == match.by_class.end())
      Throw(ErrorCode::kIo, "case \"{}\" has no file of class {}", id, name);
    paths.push_back(RelativeTo(dataset.folder, it->second));
  }
  if (match.by_class.size() != classes.size()) {
    Throw(ErrorCode::kBadData,
          "case \"{}\" has files of {} classes, the first case of {}",
          id,
          match.by_class.size(),
          classes.size());
  }
  return ArraySource::PerClass(std::move(paths));
}

// The file of case `id`, relative; empty if there is none and that is allowed.
std::string Lookup(const FilesByCase& files,
                   const std::string& pattern,
                   const Case& c,
                   const IndexRules& rules,
                   const Dataset& dataset) {
  if (pattern.empty()) return {};
  const auto it = files.find(c.id);
  if (it != files.end()) return RelativeTo(dataset.folder, it->second.path);
  if (rules.allow_missing) return {};
  Throw(ErrorCode::kIo,
        "{}: no file for case \"{}\" (option allow_missing goes on without it)",
        pattern,
        c.id);
}

void CheckSameCases(const std::vector<MemberFiles>& members) {
  const auto check = [](const MemberFiles& has, const MemberFiles& lacks) {
    for (const auto& [id, match] : has.files) {
      if (lacks.files.contains(id)) continue;
      Throw(ErrorCode::kIo,
            "case \"{}\" has no file of member {}; every member must have predicted it. Where one "
            "of them did (out of fold), write * in place of {{member}}",
            id,
            lacks.name);
    }
  };
  for (const MemberFiles& member : members) {
    check(members.front(), member);
    check(member, members.front());
  }
}

}  // namespace

void IndexFiles(const IndexPatterns& patterns, const IndexRules& rules, Dataset* dataset) {
  IndexMembers(FindMembers(patterns.members, rules), patterns, rules, dataset);
}

void IndexMembers(const std::vector<MemberFiles>& members,
                  const IndexPatterns& patterns,
                  const IndexRules& rules,
                  Dataset* dataset) {
  const FilesByCase labels = FindByCase(patterns.labels, rules);
  const FilesByCase images = FindByCase(patterns.images, rules);
  const FilesByCase masks = FindByCase(patterns.masks, rules);
  CheckSameCases(members);
  const FilesByCase& first = members.front().files;
  const Names classes = ClassOrder(first.begin()->second, dataset);
  Names ids;
  for (const auto& [id, match] : first) ids.push_back(id);
  std::sort(ids.begin(), ids.end(), NaturalLess);
  for (const std::string& id : ids) {
    Case c;
    c.id = id;
    for (const MemberFiles& member : members) {
      const CaseMatch& match = member.files.at(id);
      c.members.push_back(SourceOf(match, id, classes, *dataset));
      if (!match.group.empty()) c.group = match.group;
    }
    c.labels = Lookup(labels, patterns.labels, c, rules, *dataset);
    c.image = Lookup(images, patterns.images, c, rules, *dataset);
    c.mask = Lookup(masks, patterns.masks, c, rules, *dataset);
    dataset->cases.push_back(std::move(c));
  }
}

}  // namespace segcal
