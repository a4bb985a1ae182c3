// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "page/sections.h"

namespace segcal {

// Everything but the cases, which come last but one.
struct PageParts {
  std::string before;  // from the doctype to the place of the cases
  std::string after;
};
PageParts MakePage(const StudyView& view, const PageOrigin& origin);

}  // namespace segcal
