// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/error.h"
#include "segcal/index.h"

namespace segcal::python {
namespace {

Layout LayoutOf(const std::string& name) {
  for (const Layout layout : {Layout::kChannelsFirst, Layout::kChannelsLast}) {
    if (name == Name(layout)) return layout;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "layout \"" + name + "\"; channels_first or channels_last is required");
}

}  // namespace

void BindIndex(nb::module_& m) {
  nb::class_<IndexOptions>(m, "IndexOptions")
      .def(nb::init<>())
      .def_prop_rw(
          "members",
          [](const IndexOptions& self) { return self.patterns.members; },
          [](IndexOptions& self, std::vector<std::string> value) {
            self.patterns.members = std::move(value);
          })
      .def_prop_rw(
          "labels",
          [](const IndexOptions& self) { return self.patterns.labels; },
          [](IndexOptions& self, std::string value) { self.patterns.labels = std::move(value); })
      .def_prop_rw(
          "images",
          [](const IndexOptions& self) { return self.patterns.images; },
          [](IndexOptions& self, std::string value) { self.patterns.images = std::move(value); })
      .def_prop_rw(
          "masks",
          [](const IndexOptions& self) { return self.patterns.masks; },
          [](IndexOptions& self, std::string value) { self.patterns.masks = std::move(value); })
      .def_prop_rw(
          "input",
          [](const IndexOptions& self) { return std::string(self.input ? Name(*self.input) : ""); },
          [](IndexOptions& self, const std::string& kind) { self.input = ParseInputKind(kind); })
      .def_rw("allow_missing", &IndexOptions::allow_missing)
      .def_rw("key", &IndexOptions::key)
      .def_rw("name", &IndexOptions::name)
      .def_rw("classes", &IndexOptions::classes)
      .def_rw("nnunet", &IndexOptions::nnunet)
      .def_rw("nnunet_folders", &IndexOptions::nnunet_folders)
      .def_rw("batch", &IndexOptions::batch)
      .def_rw("group_by_fold", &IndexOptions::group_by_fold)
      .def_rw("ignore_label", &IndexOptions::ignore_label)
      .def_rw("background", &IndexOptions::background)
      .def_rw("label_map", &IndexOptions::label_map)
      .def_rw("label_set", &IndexOptions::label_set)
      .def_prop_rw(
          "layout",
          [](const IndexOptions& self) { return Name(self.layout); },
          [](IndexOptions& self, const std::string& name) { self.layout = LayoutOf(name); })
      .def_rw("splits", &IndexOptions::splits)
      .def_rw("seed", &IndexOptions::seed);
  m.def(
      "index",
      [](const std::string& file, const IndexOptions& options) {
        IndexResult result = WithoutGil([&] { return Index(file, options); });
        return std::pair(std::move(result.dataset), std::move(result.notes));
      },
      nb::arg("file"),
      nb::arg("options"));
  m.def("numbered_classes", &NumberedClasses, nb::arg("num_classes"));
}

}  // namespace segcal::python
