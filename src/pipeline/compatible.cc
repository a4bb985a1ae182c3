// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compatible.h"

#include "core/throw.h"
#include "pipeline/model.h"

namespace segcal {

void CheckNeeds(const Needs& needs, const Dataset& dataset) {
  for (const Case& c : dataset.cases) {
    if (needs.image && c.image.empty()) {
      Throw(ErrorCode::kBadData,
            "case {} of the data set \"{}\" has no image, which the calibrator needs",
            c.id,
            dataset.name);
    }
  }
}

std::string DatasetTitle(const Dataset& dataset) {
  return fmt::format("the data set \"{}\"", dataset.name);
}

void CheckCompatible(const Model& model, const Dataset& dataset) {
  CheckDataset(dataset, DatasetTitle(dataset));
  if (model.classes().size() != dataset.classes.size()) {
    Throw(ErrorCode::kInvalidArgument,
          "the model {} is for {} classes, the data set \"{}\" has {}",
          model.pipeline(),
          model.classes().size(),
          dataset.name,
          dataset.classes.size());
  }
  for (size_t c = 0; c < dataset.classes.size(); ++c) {
    if (model.classes()[c] == dataset.classes[c]) continue;
    Throw(ErrorCode::kInvalidArgument,
          "class {} is \"{}\" in the model {} and \"{}\" in the data set \"{}\"",
          c,
          model.classes()[c],
          model.pipeline(),
          dataset.classes[c],
          dataset.name);
  }
  CheckNeeds(ModelAccess::State(model).calibrator->needs(), dataset);
  if (model.input() != dataset.input) {
    Throw(ErrorCode::kInvalidArgument,
          "the model {} takes {}, the data set \"{}\" holds {}",
          model.pipeline(),
          Name(model.input()),
          dataset.name,
          Name(*dataset.input));
  }
}

}  // namespace segcal
