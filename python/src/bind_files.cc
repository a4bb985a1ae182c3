// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string_view.h>

#include "bind.h"
#include "segcal/files.h"

namespace segcal::python {

void BindFiles(nb::module_& m) {
  nb::enum_<FileKind>(m, "FileKind")
      .value("dataset", FileKind::kDataset)
      .value("model", FileKind::kModel)
      .value("metrics", FileKind::kMetrics)
      .value("table", FileKind::kTable)
      .value("figure", FileKind::kFigure)
      .value("array", FileKind::kArray)
      .value("checkpoint", FileKind::kCheckpoint)
      .value("part", FileKind::kPart)
      .value("onnx", FileKind::kOnnx)
      .value("page", FileKind::kPage);
  nb::class_<OutputCheck>(m, "OutputCheck")
      .def(nb::init<bool>(), nb::arg("force"))
      .def("reads", nb::overload_cast<const std::string&>(&OutputCheck::Reads), nb::arg("file"))
      .def("reads_dataset",
           nb::overload_cast<const Dataset&>(&OutputCheck::Reads),
           nb::arg("dataset"))
      .def("writes", &OutputCheck::Writes, nb::arg("file"), nb::arg("kind"))
      .def("writes_into", &OutputCheck::WritesInto, nb::arg("folder"));
  m.def("write_text", &WriteText, nb::arg("path"), nb::arg("text"));
  m.def(
      "write_bytes",
      [](const std::string& path, const nb::bytes& bytes) {
        WriteText(path, {bytes.c_str(), bytes.size()});
      },
      nb::arg("path"),
      nb::arg("bytes"));
  m.def("create_folder", &CreateFolder, nb::arg("path"));
}

}  // namespace segcal::python
