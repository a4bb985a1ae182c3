// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "segcal/dataset.h"

namespace segcal::python {
namespace {

Case MakeCase(std::string id,
              const std::vector<nb::object>& members,
              const nb::object& labels,
              const nb::object& image,
              const nb::object& mask,
              std::vector<double> spacing,
              std::string group,
              std::string split) {
  Case entry{.id = std::move(id),
             .labels = SourceOf(labels),
             .image = SourceOf(image),
             .mask = SourceOf(mask),
             .spacing = std::move(spacing),
             .group = std::move(group),
             .split = std::move(split)};
  for (const nb::object& member : members) entry.members.push_back(SourceOf(member));
  return entry;
}

// Paths of files; arrays in memory are named as such.
std::vector<std::string> Sources(const Case& entry) {
  std::vector<std::string> names;
  for (const ArraySource& member : entry.members)
    names.push_back(member.in_memory() ? "<memory>" : member.path());
  return names;
}

}  // namespace

void BindDataset(nb::module_& m) {
  nb::class_<Case>(m, "Case")
      .def(nb::new_(&MakeCase),
           nb::arg("id"),
           nb::arg("members"),
           nb::arg("labels").none(),
           nb::arg("image").none(),
           nb::arg("mask").none(),
           nb::arg("spacing"),
           nb::arg("group"),
           nb::arg("split"))
      .def_ro("id", &Case::id)
      .def_ro("group", &Case::group)
      .def_ro("split", &Case::split)
      .def_prop_ro("members", Sources)
      .def_prop_ro("labelled", [](const Case& self) { return !self.labels.empty(); });

  nb::class_<Dataset>(m, "Dataset")
      .def(nb::init<>())
      .def(nb::init<const Dataset&>())
      .def_rw("name", &Dataset::name)
      .def_rw("classes", &Dataset::classes)
      .def_rw("colors", &Dataset::colors)
      .def_prop_rw(
          "input",
          [](const Dataset& self) { return std::string(self.input ? Name(*self.input) : ""); },
          [](Dataset& self, const std::string& kind) { self.input = ParseInputKind(kind); })
      .def_rw("ignore_label", &Dataset::ignore_label, nb::for_setter(nb::arg("value").none()))
      .def_rw("background", &Dataset::background, nb::for_setter(nb::arg("value").none()))
      .def_rw("label_map", &Dataset::label_map)
      .def_ro("folder", &Dataset::folder)
      .def_ro("file", &Dataset::file)
      .def_prop_ro("cases", [](const Dataset& self) { return self.cases; })
      .def("add", [](Dataset& self, const Case& entry) { self.cases.push_back(entry); })
      .def("put_into_split",
           [](Dataset& self, const std::string& split) {
             for (Case& entry : self.cases) {
               if (entry.split.empty()) entry.split = split;
             }
           })
      .def("save", [](const Dataset& self, const std::string& path) { SaveDataset(path, self); })
      .def("select", &SelectSplit, nb::arg("split"))
      .def("assign_splits", &AssignSplits, nb::arg("proportions"), nb::arg("seed"));
  m.def(
      "load_dataset", [](const std::string& path) { return LoadDataset(path); }, nb::arg("path"));
}

}  // namespace segcal::python
