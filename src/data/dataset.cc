// SPDX-License-Identifier: Apache-2.0
#include "segcal/dataset.h"

#include <cmath>
#include <filesystem>
#include <set>

#include "core/file.h"
#include "core/json.h"
#include "core/throw.h"
#include "data/dataset_hints.h"
#include "data/label_maps.h"

namespace segcal {
namespace {

constexpr int64_t kFormatVersion = 1;
// Every thread counts voxels by decision and label; with more classes those tables would be most of
// the memory.
constexpr int64_t kMaxClasses = 2048;

void CheckLabelMap(const Dataset& dataset, const std::string& where) {
  for (const auto& [from, to] : dataset.label_map) {
    const bool is_class = to >= 0 && to < dataset.num_classes();
    if (is_class || (dataset.ignore_label && to == *dataset.ignore_label)) continue;
    Throw(ErrorCode::kBadData,
          "{}: label_map sends {} to {}; a class in [0, {}) or the ignore_label is required",
          where,
          from,
          to,
          dataset.num_classes());
  }
}

// "a.npy", {"file": "batch.npy", "item": 3} or {"per_class": ["a_0.nii", "a_1.nii"]}.
ArraySource ReadSource(const Json& json, const std::string& where) {
  if (json.is_string()) return json.get<std::string>();
  if (!json.is_object())
    Throw(ErrorCode::kBadData,
          "{} is {}; a path, {{\"file\", \"item\"}} or {{\"per_class\"}} is required",
          where,
          json.dump());
  JsonObject object(json, where);
  ArraySource source;
  if (object.Has("per_class")) {
    source = ArraySource::PerClass(object.Strings("per_class"));
  } else {
    const std::string file = object.String("file");
    source = ArraySource::Item(file, object.Integer("item"));
  }
  object.Finish();
  return source;
}

ArraySource ReadSourceIfGiven(JsonObject* object, const char* key) {
  if (!object->Has(key)) return {};
  return ReadSource(object->Any(key), object->where() + ": \"" + key + "\"");
}

Case ReadCase(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  Case result;
  result.id = object.String("id");
  if (object.Has("members")) result.members = object.Items("members", ReadSource);
  if (object.Has("candidates")) result.candidates = object.Items("candidates", ReadSource);
  result.labels = ReadSourceIfGiven(&object, "labels");
  result.image = ReadSourceIfGiven(&object, "image");
  result.mask = ReadSourceIfGiven(&object, "mask");
  result.group = object.StringOr("group", "");
  result.split = object.StringOr("split", "");
  if (object.Has("spacing")) result.spacing = object.Numbers("spacing");
  object.Finish();
  return result;
}

std::vector<Case> ReadCases(const Json& json, const std::string& path) {
  std::vector<Case> cases;
  for (const Json& item : json)
    cases.push_back(ReadCase(item, fmt::format("{}: cases[{}]", path, cases.size())));
  return cases;
}

// The id becomes a file name under the output folder of `apply`.
bool CanBeFileName(const std::string& id) {
  return !id.empty() && id != "." && id != ".." && id.find('/') == std::string::npos &&
         id.find('\0') == std::string::npos;
}

void CheckCases(const std::vector<Case>& cases, const std::string& where, Contents contents) {
  std::set<std::string> ids;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    const auto refuse = [&](const std::string& why) {
      Throw(ErrorCode::kBadData, "{}: cases[{}]: {}", where, i, why);
    };
    if (!CanBeFileName(c.id)) refuse(fmt::format("id {} cannot be a file name", Json(c.id).dump()));
    if (!ids.insert(c.id).second) refuse(fmt::format("the id \"{}\" is used twice", c.id));
    if (contents == Contents::kPredictions && c.members.empty())
      refuse("no members, the predictions of at least one network are required");
    if (contents == Contents::kImages && c.image.empty())
      refuse(fmt::format("case \"{}\" has no image", c.id));
    for (const ArraySource& member : c.members) {
      if (member.empty()) refuse("a member is neither a file nor a view");
    }
    if (!c.candidates.empty() && c.candidates.size() != c.members.size()) {
      refuse(fmt::format(
          "{} candidates for {} members; a label map for each member, or none, is required",
          c.candidates.size(),
          c.members.size()));
    }
    for (const double s : c.spacing) {
      if (!(s > 0.0) || !std::isfinite(s)) refuse(fmt::format("spacing {} is not positive", s));
    }
    if (c.members.size() != cases.front().members.size()) {
      refuse(fmt::format(
          "{} members, the first case has {}", c.members.size(), cases.front().members.size()));
    }
  }
}

std::map<int64_t, int64_t> ReadLabelMap(JsonObject* object) {
  if (!object->Has("label_map")) return {};
  return ParseLabelMap(object->Object("label_map"), object->where() + ": label_map");
}

// One of the choices, by its name.
template <class Enum>
Enum ReadChoice(JsonObject* object, const char* field, std::initializer_list<Enum> choices) {
  const std::string value = object->String(field);
  std::vector<std::string> names;
  for (const Enum choice : choices) {
    if (value == Name(choice)) return choice;
    names.emplace_back(Name(choice));
  }
  Throw(ErrorCode::kBadData,
        "{}: \"{}\" is \"{}\", one of {} is required",
        object->where(),
        field,
        value,
        fmt::join(names, ", "));
}

// Tables and pictures name classes by their names.
void CheckClassNames(const std::vector<std::string>& classes, const std::string& path) {
  std::map<std::string, size_t> seen;
  for (size_t c = 0; c < classes.size(); ++c) {
    const auto [first, is_new] = seen.emplace(classes[c], c);
    if (is_new) continue;
    Throw(ErrorCode::kBadData,
          "{}: classes {} and {} are both \"{}\"; names that differ are required",
          path,
          first->second,
          c,
          classes[c]);
  }
}

void CheckClasses(const Dataset& dataset, const std::string& path) {
  const int64_t num_classes = dataset.num_classes();
  if (num_classes < 1 || num_classes > kMaxClasses) {
    Throw(ErrorCode::kBadData,
          "{}: {} classes, 1 to {} are required",
          path,
          num_classes,
          kMaxClasses);
  }
  if (dataset.ignore_label && *dataset.ignore_label >= 0 && *dataset.ignore_label < num_classes) {
    Throw(ErrorCode::kBadData,
          "{}: ignore_label {} is also a class index; a value outside [0, {}) is required",
          path,
          *dataset.ignore_label,
          num_classes);
  }
  if (dataset.background && (*dataset.background < 0 || *dataset.background >= num_classes)) {
    Throw(ErrorCode::kBadData,
          "{}: background {} is not a class index in [0, {})",
          path,
          *dataset.background,
          num_classes);
  }
}

bool IsColor(const std::string& text) {
  return text.size() == 7 && text[0] == '#' &&
         text.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos;
}

void CheckColors(const Dataset& dataset, const std::string& path) {
  if (dataset.colors.empty()) return;
  if (dataset.colors.size() != dataset.classes.size()) {
    Throw(ErrorCode::kBadData,
          "{}: {} colors for {} classes; one each, or none, is required",
          path,
          dataset.colors.size(),
          dataset.classes.size());
  }
  for (size_t c = 0; c < dataset.colors.size(); ++c) {
    if (IsColor(dataset.colors[c])) continue;
    Throw(ErrorCode::kBadData,
          "{}: colors[{}] is {}; \"#rrggbb\" is required",
          path,
          c,
          Json(dataset.colors[c]).dump());
  }
}

std::string DatasetFile(const std::string& path) {
  std::error_code ignored;  // opening the file says what is wrong
  if (std::filesystem::is_directory(path, ignored))
    return (std::filesystem::path(path) / "dataset.json").string();
  return path;
}

void SetIfGiven(Json* json, const char* key, const std::string& value) {
  if (!value.empty()) (*json)[key] = value;
}

Json SourceJson(const ArraySource& source, const Case& c, const std::string& where) {
  if (source.in_memory()) {
    Throw(
        ErrorCode::kInvalidArgument,
        "{}: case {} has arrays in memory, which a data set file cannot name: write them to files",
        where,
        c.id);
  }
  if (!source.class_paths().empty()) return Json::object({{"per_class", source.class_paths()}});
  if (source.item()) return Json::object({{"file", source.path()}, {"item", *source.item()}});
  return source.path();
}

Json CaseJson(const Case& c, const std::string& where) {
  Json json = {{"id", c.id}};
  for (const ArraySource& member : c.members)
    json["members"].push_back(SourceJson(member, c, where));
  for (const ArraySource& candidate : c.candidates)
    json["candidates"].push_back(SourceJson(candidate, c, where));
  for (const auto& [key, source] :
       {std::pair{"labels", &c.labels}, std::pair{"image", &c.image}, std::pair{"mask", &c.mask}}) {
    if (!source->empty()) json[key] = SourceJson(*source, c, where);
  }
  if (!c.spacing.empty()) json["spacing"] = c.spacing;
  SetIfGiven(&json, "group", c.group);
  SetIfGiven(&json, "split", c.split);
  return json;
}

}  // namespace

Dataset LoadDataset(const std::string& path, Contents contents) {
  const std::string file = DatasetFile(path);
  const Json json = ReadDatasetJson(path, file);
  JsonObject object(json, file);
  object.CheckFormat("segcal_dataset", "data set", kFormatVersion);
  Dataset dataset;
  dataset.file = file;
  dataset.folder = std::filesystem::path(file).parent_path().string();
  dataset.name = object.StringOr("name", std::filesystem::path(file).stem().string());
  dataset.classes = object.Strings("classes");
  if (object.Has("colors")) dataset.colors = object.Strings("colors");
  if (contents == Contents::kPredictions || object.Has("input")) {
    dataset.input =
        ReadChoice(&object, "input", {InputKind::kLogits, InputKind::kLogProbs, InputKind::kProbs});
  }
  dataset.ignore_label = object.OptionalInteger("ignore_label");
  dataset.background = object.OptionalInteger("background");
  if (object.Has("layout"))
    dataset.layout = ReadChoice(&object, "layout", {Layout::kChannelsFirst, Layout::kChannelsLast});
  dataset.key = object.StringOr("key", "");
  dataset.label_map = ReadLabelMap(&object);
  dataset.cases = ReadCases(object.Array("cases"), file);
  object.Finish();
  CheckDataset(dataset, file, contents);
  return dataset;
}

void CheckDataset(const Dataset& dataset, const std::string& where, Contents contents) {
  if (contents == Contents::kPredictions && !dataset.input) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: \"input\" is not stated; logits, log_probabilities or probabilities is required",
          where);
  }
  CheckClasses(dataset, where);
  CheckColors(dataset, where);
  CheckClassNames(dataset.classes, where);
  CheckLabelMap(dataset, where);
  CheckCases(dataset.cases, where, contents);
}

void SaveDataset(const std::string& path, const Dataset& dataset, Contents contents) {
  CheckDataset(dataset, path, contents);
  Json json = {
      {"segcal_dataset", kFormatVersion}, {"name", dataset.name}, {"classes", dataset.classes}};
  if (dataset.input) json["input"] = Name(*dataset.input);
  if (!dataset.colors.empty()) json["colors"] = dataset.colors;
  json["ignore_label"] = dataset.ignore_label ? Json(*dataset.ignore_label) : Json(nullptr);
  json["background"] = dataset.background ? Json(*dataset.background) : Json(nullptr);
  if (dataset.layout != Dataset{}.layout) json["layout"] = Name(dataset.layout);
  SetIfGiven(&json, "key", dataset.key);
  for (const auto& [from, to] : dataset.label_map) json["label_map"][std::to_string(from)] = to;
  json["cases"] = Json::array();
  for (const Case& c : dataset.cases) json["cases"].push_back(CaseJson(c, path));
  WriteText(path, DumpJson(json));
}

Dataset SelectSplit(const Dataset& dataset, const std::string& split) {
  Dataset result = dataset;
  std::set<std::string> known;
  std::erase_if(result.cases, [&](const Case& c) {
    if (!c.split.empty()) known.insert(c.split);
    return c.split != split;
  });
  if (result.cases.empty()) {
    Throw(ErrorCode::kInvalidArgument,
          "the data set \"{}\" has no case in split \"{}\"; its splits: {}",
          dataset.name,
          split,
          known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
  }
  return result;
}

}  // namespace segcal
