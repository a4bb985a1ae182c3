// SPDX-License-Identifier: Apache-2.0
#include "segcal/fit_report.h"

#include "core/names.h"

namespace segcal {
namespace {

constexpr NameList<6> kStatusNames = {
    "converged", "at_bound", "unbounded", "not_converged", "nothing_to_fit", "trained"};

}  // namespace

const char* Name(FitStatus status) noexcept { return FindName(status, kStatusNames); }

FitStatus ParseFitStatus(const std::string& name) {
  return ParseName<FitStatus>("status", name, kStatusNames);
}

}  // namespace segcal
