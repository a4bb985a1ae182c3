// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/apply.h"
#include "segcal/error.h"

namespace segcal::python {
namespace {

ArraySpan* FindSpan(ApplyOutputs& out, const std::string& name) {
  if (name == "probabilities") return &out.probabilities;
  if (name == "labels") return &out.labels;
  if (name == "confidence") return &out.confidence;
  if (name == "entropy") return &out.entropy;
  if (name == "temperature") return &out.temperature;
  throw Error(
      ErrorCode::kInvalidArgument,
      "unknown output \"" + name +
          "\"; in memory there are probabilities, labels, confidence, entropy, temperature");
}

void BindNnunet(nb::module_& m) {
  nb::class_<NnunetApplyOptions>(m, "NnunetApplyOptions")
      .def(nb::init<>())
      .def_rw("run", &NnunetApplyOptions::run)
      .def_rw("images", &NnunetApplyOptions::images)
      .def_rw("overwrite", &NnunetApplyOptions::overwrite);
  m.def(
      "apply_nnunet",
      [](const Model& model,
         const std::vector<std::string>& inputs,
         const std::string& folder,
         const NnunetApplyOptions& options) {
        return ToJson(WithoutGil([&] { return ApplyNnunet(model, inputs, folder, options); }));
      },
      nb::arg("model"),
      nb::arg("inputs"),
      nb::arg("folder"),
      nb::arg("options"));
}

}  // namespace

void BindApply(nb::module_& m) {
  BindNnunet(m);
  m.def(
      "apply_case",
      [](const Model& model,
         const Case& entry,
         const std::vector<std::pair<std::string, nb::object>>& arrays,
         const RunOptions& run) {
        ApplyOutputs out;
        for (const auto& [name, array] : arrays) *FindSpan(out, name) = SpanOf(array);
        WithoutGil([&] { Apply(model, entry, out, run); });
      },
      nb::arg("model"),
      nb::arg("entry"),
      nb::arg("arrays"),
      nb::arg("run"));

  nb::class_<ApplyOptions>(m, "ApplyOptions")
      .def(nb::init<>())
      .def_rw("run", &ApplyOptions::run)
      .def_rw("split", &ApplyOptions::split)
      .def_rw("write", &ApplyOptions::write)
      .def_rw("format", &ApplyOptions::format)
      .def_rw("compress", &ApplyOptions::compress)
      .def_rw("force", &ApplyOptions::force)
      .def_prop_rw(
          "dtype",
          [](const ApplyOptions& self) { return Name(self.dtype); },
          [](ApplyOptions& self, const std::string& name) {
            self.dtype = FloatType(name, {DType::kF16, DType::kF32});
          });
  m.def(
      "apply_files",
      [](const Model& model,
         const Dataset& dataset,
         const std::string& folder,
         const ApplyOptions& options) {
        return ToJson(WithoutGil([&] { return Apply(model, dataset, folder, options); }));
      },
      nb::arg("model"),
      nb::arg("dataset"),
      nb::arg("folder"),
      nb::arg("options"));
}

}  // namespace segcal::python
