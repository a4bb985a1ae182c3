// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/onnx.h"

namespace segcal::python {
namespace {

void BindOptions(nb::module_& m) {
  nb::class_<OnnxOptions>(m, "OnnxOptions")
      .def(nb::init<>())
      .def_rw("outputs", &OnnxOptions::outputs)
      .def_rw("prefix", &OnnxOptions::prefix)
      .def_prop_rw(
          "pool_type",
          [](const OnnxOptions& self) { return Name(self.pool_type); },
          [](OnnxOptions& self, const std::string& name) {
            self.pool_type = FloatType(name, {DType::kF32, DType::kF64});
          })
      .def_rw("members", &OnnxOptions::members)
      .def_rw("spatial_axes", &OnnxOptions::spatial_axes)
      .def_prop_rw(
          "input_type",
          [](const OnnxOptions& self) { return Name(self.input_type); },
          [](OnnxOptions& self, const std::string& name) {
            self.input_type = FloatType(name, {DType::kF16, DType::kF32});
          })
      .def_rw("opset", &OnnxOptions::opset);
  nb::class_<OnnxJoin>(m, "OnnxJoin")
      .def(nb::init<>())
      .def_rw("outputs", &OnnxJoin::outputs)
      .def_rw("keep_outputs", &OnnxJoin::keep_outputs)
      .def_rw("image", &OnnxJoin::image);
}

}  // namespace

void BindOnnx(nb::module_& m) {
  BindOptions(m);
  m.def("list_onnx_outputs", &ListOnnxOutputs);
  m.def(
      "to_onnx",
      [](const Model& model, const OnnxOptions& options) {
        return BytesOf(WithoutGil([&] { return ToOnnx(model, options); }));
      },
      nb::arg("model"),
      nb::arg("options"));
  m.def(
      "append_to_onnx",
      [](const Model& model,
         const nb::bytes& segmenter,
         const OnnxJoin& join,
         const OnnxOptions& options) {
        const std::string_view bytes{segmenter.c_str(), segmenter.size()};
        return BytesOf(WithoutGil([&] { return AppendToOnnx(model, bytes, join, options); }));
      },
      nb::arg("model"),
      nb::arg("segmenter"),
      nb::arg("join"),
      nb::arg("options"));
  m.def(
      "export_onnx",
      [](const Model& model, const std::string& path, const OnnxOptions& options) {
        WithoutGil([&] { ExportOnnx(model, path, options); });
      },
      nb::arg("model"),
      nb::arg("path"),
      nb::arg("options"));
  m.def(
      "append_to_onnx_file",
      [](const Model& model,
         const std::string& segmenter,
         const std::string& path,
         const OnnxJoin& join,
         const OnnxOptions& options) {
        WithoutGil([&] { AppendToOnnxFile(model, segmenter, path, join, options); });
      },
      nb::arg("model"),
      nb::arg("segmenter"),
      nb::arg("path"),
      nb::arg("join"),
      nb::arg("options"));
}

}  // namespace segcal::python
