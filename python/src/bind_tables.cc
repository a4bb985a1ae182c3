// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/tables.h"

namespace segcal::python {

void BindTables(nb::module_& m) {
  nb::enum_<TableForm>(m, "TableForm")
      .value("text", TableForm::kText)
      .value("markdown", TableForm::kMarkdown)
      .value("latex", TableForm::kLatex)
      .value("csv", TableForm::kCsv);
  m.def(
      "evaluation_tables",
      [](const EvaluateResult& result,
         const std::vector<std::string>& names,
         TableForm form,
         bool per_class) {
        std::vector<std::string> texts;
        for (const Table& table : EvaluationTables(result, names, per_class))
          texts.push_back(table.Render(form));
        return texts;
      },
      nb::arg("result"),
      nb::arg("names"),
      nb::arg("form"),
      nb::arg("per_class"));
  m.def(
      "table_metrics",
      [](const EvaluateResult& result, const std::vector<std::string>& names) {
        std::vector<std::string> metrics;
        for (const MetricColumn& column : MetricColumns(result, names))
          metrics.push_back(column.metric);
        return metrics;
      },
      nb::arg("result"),
      nb::arg("names"));
  m.def("sorted_by", &SortedBy, nb::arg("result"), nb::arg("metric"));
}

}  // namespace segcal::python
