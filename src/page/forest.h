// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace segcal {

// What a difference says.
enum class Finding { kFavours, kAgainst, kNotSignificant, kEqual };
const char* Words(Finding finding) noexcept;

// A difference with its interval, in the units that are shown.
struct ForestMark {
  std::string label = {};  // of a published one: the data set
  double estimate = 0.0;
  double lower = 0.0;
  double upper = 0.0;
  Finding finding = Finding::kNotSignificant;
};

struct ForestRow {
  std::string label;  // "ms(z) → ms_c(z)"
  ForestMark own = {};
  std::vector<ForestMark> published = {};  // drawn below, thin
};

struct Forest {
  std::string title;   // what a screen reader says first
  std::string metric;  // name of the axis
  std::string better;  // which side is the better one: "lower is better"
  int decimals = 4;
  std::vector<ForestRow> rows = {};
};

// A row per pair: the interval of the difference against zero, filled and coloured where it
// excludes zero, hollow and grey where not, and the finding in words.
std::string ForestSvg(const Forest& forest);

}  // namespace segcal
