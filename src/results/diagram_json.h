// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "segcal/metric_values.h"

namespace segcal {

// Adds the diagrams of a pipeline to its object in the metrics file: a field per kind, and those of
// regions and classes by name.
void AddDiagrams(const std::vector<Diagram>& diagrams,
                 const std::vector<std::string>& classes,
                 Json* pipeline);

// The diagrams of such an object, in the order of Accumulators::Diagrams.
std::vector<Diagram> ReadDiagrams(JsonObject* pipeline, const std::vector<std::string>& classes);

// {"ace": {"lower": [...], "upper": [...], ...}}: bins by columns, which take a line each, because
// every case has some.
Json PooledBinsToJson(const std::vector<Diagram>& bins);
std::vector<Diagram> ReadPooledBins(const Json& json, const std::string& where);

// Cells by columns: {"kind": [...], "class": [...], ...}.
Json CellsToJson(const std::vector<CellRow>& cells);
std::vector<CellRow> ReadCells(const Json& json, const std::string& where);

}  // namespace segcal
