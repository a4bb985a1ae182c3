// SPDX-License-Identifier: Apache-2.0
#include "segcal/fit_report.h"

#include "core/names.h"

namespace segcal {
namespace {

constexpr NameList<6> kStatusNames = {
    "converged", "at_bound", "unbounded", "not_converged", "nothing_to_fit", "trained"};
constexpr NameList<2> kSelectionNames = {"validation", "folds"};

}  // namespace

const char* Name(FitStatus status) noexcept { return FindName(status, kStatusNames); }

FitStatus ParseFitStatus(const std::string& name) {
  return ParseName<FitStatus>("status", name, kStatusNames);
}

const char* Name(Selection selection) noexcept { return FindName(selection, kSelectionNames); }

Selection ParseSelection(const std::string& name) {
  return ParseName<Selection>("selection", name, kSelectionNames);
}

}  // namespace segcal
