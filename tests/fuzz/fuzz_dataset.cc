// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "fuzz/memory_file.h"
#include "segcal/dataset.h"
#include "segcal/error.h"

namespace segcal {
namespace {

// What later code relies on without looking again.
void CheckPromises(const Dataset& dataset) {
  if (dataset.classes.empty()) std::abort();
  for (const Case& c : dataset.cases) {
    const bool escapes = c.id.find('/') != std::string::npos || c.id == "." || c.id == "..";
    if (escapes || c.id.empty() || c.members.size() != dataset.cases[0].members.size())
      std::abort();
  }
  for (const auto& [from, to] : dataset.label_map) {
    const bool is_class = to >= 0 && to < dataset.num_classes();
    if (!is_class && to != dataset.ignore_label) std::abort();
  }
}

}  // namespace
}  // namespace segcal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const segcal::MemoryFile file({reinterpret_cast<const std::byte*>(data), size});
  try {
    segcal::Dataset dataset = segcal::LoadDataset(file.path());
    segcal::CheckPromises(dataset);
    segcal::AssignSplits(&dataset, {{"a", 1.0}, {"b", 2.0}}, size);
  } catch (const segcal::Error&) {
  }
  return 0;
}
