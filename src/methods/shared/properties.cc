// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/properties.h"

#include "core/names.h"

namespace segcal {
namespace {

constexpr NameList<3> kPreservesNames = {"none", "argmax", "order"};

}  // namespace

const char* Name(Preserves preserves) noexcept { return FindName(preserves, kPreservesNames); }

Preserves ParsePreserves(const std::string& name) {
  return ParseName<Preserves>("property", name, kPreservesNames);
}

}  // namespace segcal
