// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/options.h"
#include "methods/shared/calibrator.h"

namespace segcal {

// What a search of a method's options chooses by: nothing to choose; folds or validation cases
// given to it; cases that its training holds out itself.
enum class SearchBy { kNothing, kFolds, kTraining };

// One method: everything the rest of the program knows about it.
struct CalibratorInfo {
  const char* name;
  const char* summary;
  const char* reference;  // key in docs/references.md
  const char* page;       // docs/methods/<page>.md
  OptionMap (*default_options)();
  // `base` is the calibrator after the `+` of a composition, else null.
  std::unique_ptr<Calibrator> (*make)(const OptionMap& options, std::unique_ptr<Calibrator> base);
  bool composes = false;  // whether it takes a base
  SearchBy search = SearchBy::kNothing;
};

// make for a method without a base: Method's constructor takes its options.
template <class Method, class Options>
std::unique_ptr<Calibrator> MakeWith(const OptionMap& options, std::unique_ptr<Calibrator>) {
  return std::make_unique<Method>(ParseOptions<Options>(Method::kName, options));
}

}  // namespace segcal
