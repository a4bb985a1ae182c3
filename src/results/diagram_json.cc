// SPDX-License-Identifier: Apache-2.0
#include "results/diagram_json.h"

#include <algorithm>

#include "core/throw.h"
#include "measures/diagram.h"

namespace segcal {
namespace {

constexpr const char* kTopLabelName = "top_label";

Json DiagramNumber(double value, const DiagramColumn& column) {
  return column.count ? Json(static_cast<int64_t>(value)) : JsonNumber(value);
}

// [{"lower": 0.0, "upper": 0.02, ...}, ...]
Json RowsToJson(const Diagram& diagram) {
  Json json = Json::array();
  for (const std::vector<double>& row : diagram.rows) {
    Json entry = Json::object();
    for (size_t k = 0; k < diagram.columns.size(); ++k)
      entry[diagram.columns[k].name] = DiagramNumber(row[k], diagram.columns[k]);
    json.push_back(std::move(entry));
  }
  return json;
}

std::string Place(const std::string& where, size_t index) {
  return fmt::format("{}[{}]", where, index);
}

void ReadRows(const Json& json, const std::string& where, Diagram* diagram) {
  if (!json.is_array()) Throw(ErrorCode::kBadData, "{}: an array of rows is required", where);
  for (const Json& item : json) {
    JsonObject object(item, Place(where, diagram->rows.size()));
    std::vector<double>& row = diagram->rows.emplace_back();
    for (const DiagramColumn& column : diagram->columns) {
      row.push_back(column.count ? static_cast<double>(object.Integer(column.name))
                                 : object.AnyNumber(column.name));
    }
    object.Finish();
  }
}

// A row per label.
Json MatrixToJson(const Diagram& diagram) {
  Json json = Json::array();
  for (const std::vector<double>& row : diagram.rows)
    json.push_back(std::vector<int64_t>(row.begin(), row.end()));
  return json;
}

void ReadMatrix(const Json& json, const std::string& where, Diagram* diagram) {
  for (const Json& item : json) {
    const bool counts =
        item.is_array() && item.size() == diagram->columns.size() &&
        std::all_of(item.begin(), item.end(), [](const Json& n) { return n.is_number_integer(); });
    if (!counts) {
      Throw(ErrorCode::kBadData,
            "{}: {} whole numbers are required, one per class",
            Place(where, diagram->rows.size()),
            diagram->columns.size());
    }
    std::vector<double>& row = diagram->rows.emplace_back();
    for (const Json& count : item) row.push_back(static_cast<double>(count.get<int64_t>()));
  }
}

Json RowsOfKind(const std::vector<Diagram>& diagrams,
                DiagramKind kind,
                const std::string& about = {}) {
  const Diagram* diagram = FindDiagram(diagrams, kind, about);
  return diagram == nullptr ? Json::array() : RowsToJson(*diagram);
}

// Appends the diagram of a field of rows, unless it has none.
void ReadRowsOfKind(JsonObject* pipeline, DiagramKind kind, std::vector<Diagram>* diagrams) {
  Diagram diagram = EmptyDiagram(kind);
  ReadRows(pipeline->Array(Name(kind)), pipeline->where() + ": " + Name(kind), &diagram);
  if (diagram.rows.empty()) return;
  if (kind == DiagramKind::kReliability) diagram.about = kTopLabelName;
  diagrams->push_back(std::move(diagram));
}

void ReadReliability(const Json& rows,
                     const std::string& about,
                     int64_t class_index,
                     const std::string& where,
                     std::vector<Diagram>* diagrams) {
  Diagram& diagram = diagrams->emplace_back(EmptyDiagram(DiagramKind::kReliability));
  diagram.about = about;
  diagram.class_index = class_index;
  ReadRows(rows, where, &diagram);
}

void ReadRegions(JsonObject* pipeline, std::vector<Diagram>* diagrams) {
  const char* key = "reliability_per_region";
  for (const auto& [about, rows] : pipeline->Object(key).items())
    ReadReliability(rows, about, -1, pipeline->where() + ": " + key + ": " + about, diagrams);
}

void ReadClasses(JsonObject* pipeline,
                 const std::vector<std::string>& classes,
                 std::vector<Diagram>* diagrams) {
  const std::string key = "reliability_per_class";
  for (const auto& [about, by_class] : pipeline->Object(key).items()) {
    const std::string where = pipeline->where() + ": " + key + ": " + about;
    JsonObject object(by_class, where);
    for (size_t c = 0; c < classes.size(); ++c) {
      if (!object.Has(classes[c])) continue;
      ReadReliability(object.Array(classes[c]),
                      about,
                      static_cast<int64_t>(c),
                      where + ": " + classes[c],
                      diagrams);
    }
    object.Finish();
  }
}

void ReadConfusion(JsonObject* pipeline, size_t num_classes, std::vector<Diagram>* diagrams) {
  const std::string key = Name(DiagramKind::kConfusion);
  Diagram diagram = EmptyDiagram(DiagramKind::kConfusion, static_cast<int64_t>(num_classes));
  ReadMatrix(pipeline->Array(key), pipeline->where() + ": " + key, &diagram);
  if (!diagram.rows.empty()) diagrams->push_back(std::move(diagram));
}

// Throws unless all columns of a table have the same length.
void CheckLength(size_t length, size_t required, const std::string& where) {
  if (length == required) return;
  Throw(ErrorCode::kBadData,
        "{}: columns of {} and of {} numbers, all must have the same",
        where,
        required,
        length);
}

Json ColumnsToJson(const Diagram& diagram) {
  Json json = Json::object();
  for (size_t k = 0; k < diagram.columns.size(); ++k) {
    Json column = Json::array();
    for (const std::vector<double>& row : diagram.rows)
      column.push_back(DiagramNumber(row[k], diagram.columns[k]));
    json[diagram.columns[k].name] = std::move(column);
  }
  return json;
}

void ReadColumns(const Json& json, const std::string& where, Diagram* diagram) {
  JsonObject object(json, where);
  diagram->rows.resize(object.Array(diagram->columns[0].name).size());
  for (const DiagramColumn& column : diagram->columns) {
    std::vector<double> numbers = object.AnyNumbers(column.name);
    if (column.count) {
      const std::vector<int64_t> counts = object.Integers(column.name);
      numbers.assign(counts.begin(), counts.end());
    }
    CheckLength(numbers.size(), diagram->rows.size(), where);
    for (size_t i = 0; i < numbers.size(); ++i) diagram->rows[i].push_back(numbers[i]);
  }
  object.Finish();
}

}  // namespace

void AddDiagrams(const std::vector<Diagram>& diagrams,
                 const std::vector<std::string>& classes,
                 Json* pipeline) {
  const Diagram* confusion = FindDiagram(diagrams, DiagramKind::kConfusion);
  (*pipeline)["confusion"] = confusion == nullptr ? Json::array() : MatrixToJson(*confusion);
  for (const DiagramKind kind : {DiagramKind::kRiskCoverage, DiagramKind::kPatchSweep})
    (*pipeline)[Name(kind)] = RowsOfKind(diagrams, kind);
  (*pipeline)["reliability"] = RowsOfKind(diagrams, DiagramKind::kReliability, kTopLabelName);
  Json regions = Json::object();
  Json by_class = Json::object();
  for (const Diagram& diagram : diagrams) {
    if (diagram.kind != DiagramKind::kReliability || diagram.about == kTopLabelName) continue;
    if (diagram.class_index < 0) {
      regions[diagram.about] = RowsToJson(diagram);
    } else {
      by_class[diagram.about][classes[static_cast<size_t>(diagram.class_index)]] =
          RowsToJson(diagram);
    }
  }
  (*pipeline)["reliability_per_region"] = std::move(regions);
  (*pipeline)["reliability_per_class"] = std::move(by_class);
}

std::vector<Diagram> ReadDiagrams(JsonObject* pipeline, const std::vector<std::string>& classes) {
  std::vector<Diagram> diagrams;
  ReadRowsOfKind(pipeline, DiagramKind::kReliability, &diagrams);
  ReadRegions(pipeline, &diagrams);
  ReadClasses(pipeline, classes, &diagrams);
  ReadConfusion(pipeline, classes.size(), &diagrams);
  ReadRowsOfKind(pipeline, DiagramKind::kRiskCoverage, &diagrams);
  ReadRowsOfKind(pipeline, DiagramKind::kPatchSweep, &diagrams);
  return diagrams;
}

Json PooledBinsToJson(const std::vector<Diagram>& bins) {
  Json json = Json::object();
  for (const Diagram& diagram : bins) json[diagram.about] = ColumnsToJson(diagram);
  return json;
}

std::vector<Diagram> ReadPooledBins(const Json& json, const std::string& where) {
  std::vector<Diagram> bins;
  for (const auto& [about, columns] : json.items()) {
    Diagram& diagram = bins.emplace_back(EmptyDiagram(DiagramKind::kReliability));
    diagram.about = about;
    ReadColumns(columns, where + ": " + about, &diagram);
  }
  return bins;
}

Json CellsToJson(const std::vector<CellRow>& cells) {
  const auto column = [&](const auto& field) {
    Json json = Json::array();
    for (const CellRow& cell : cells) json.push_back(field(cell));
    return json;
  };
  return {{"kind", column([](const CellRow& cell) { return cell.kind; })},
          {"class", column([](const CellRow& cell) { return cell.class_index; })},
          {"band", column([](const CellRow& cell) { return cell.band; })},
          {"lower", column([](const CellRow& cell) { return JsonNumber(cell.lower); })},
          {"upper", column([](const CellRow& cell) { return JsonNumber(cell.upper); })},
          {"count", column([](const CellRow& cell) { return cell.count; })},
          {"correct", column([](const CellRow& cell) { return cell.correct; })},
          {"confidence_sum",
           column([](const CellRow& cell) { return JsonNumber(cell.confidence_sum); })}};
}

std::vector<CellRow> ReadCells(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  const std::vector<std::string> kinds = object.Strings("kind");
  std::vector<CellRow> cells(kinds.size());
  const auto read = [&](const auto& numbers, const auto& field) {
    CheckLength(numbers.size(), cells.size(), where);
    for (size_t i = 0; i < cells.size(); ++i) cells[i].*field = numbers[i];
  };
  read(kinds, &CellRow::kind);
  read(object.Integers("class"), &CellRow::class_index);
  read(object.Integers("band"), &CellRow::band);
  read(object.AnyNumbers("lower"), &CellRow::lower);
  read(object.AnyNumbers("upper"), &CellRow::upper);
  read(object.Integers("count"), &CellRow::count);
  read(object.Integers("correct"), &CellRow::correct);
  read(object.AnyNumbers("confidence_sum"), &CellRow::confidence_sum);
  object.Finish();
  return cells;
}

}  // namespace segcal
