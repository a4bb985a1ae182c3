// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compatible.h"

#include "core/throw.h"
#include "pipeline/model.h"

namespace segcal {
namespace {

// The pipeline, and the file it comes from.
std::string ModelTitle(const Model& model) {
  const std::string file = model.file().empty() ? "" : fmt::format(" ({})", model.file());
  return fmt::format("the model {}{}", model.pipeline(), file);
}

}  // namespace

std::string DatasetTitle(const Dataset& dataset) {
  const std::string file = dataset.file.empty() ? "" : fmt::format(" ({})", dataset.file);
  return fmt::format("the data set \"{}\"{}", dataset.name, file);
}

void CheckNeeds(const Needs& needs, const Dataset& dataset) {
  for (const Case& c : dataset.cases) {
    if (needs.image && c.image.empty()) {
      Throw(ErrorCode::kBadData,
            "case {} of {} has no image, which the calibrator needs",
            c.id,
            DatasetTitle(dataset));
    }
  }
}

void CheckCompatible(const Model& model, const Dataset& dataset) {
  CheckDataset(dataset, DatasetTitle(dataset));
  if (model.classes().size() != dataset.classes.size()) {
    Throw(ErrorCode::kBadData,
          "{} is for {} classes, {} has {}",
          ModelTitle(model),
          model.classes().size(),
          DatasetTitle(dataset),
          dataset.classes.size());
  }
  for (size_t c = 0; c < dataset.classes.size(); ++c) {
    if (model.classes()[c] == dataset.classes[c]) continue;
    Throw(ErrorCode::kBadData,
          "class {} is \"{}\" in {} and \"{}\" in {}",
          c,
          model.classes()[c],
          ModelTitle(model),
          dataset.classes[c],
          DatasetTitle(dataset));
  }
  CheckNeeds(ModelAccess::State(model).calibrator->needs(), dataset);
  if (model.input() != dataset.input) {
    Throw(ErrorCode::kBadData,
          "{} takes {}, {} holds {}",
          ModelTitle(model),
          Name(model.input()),
          DatasetTitle(dataset),
          Name(*dataset.input));
  }
}

}  // namespace segcal
