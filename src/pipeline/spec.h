// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/options.h"
#include "data/pooling.h"

namespace segcal {

// A pipeline as a person writes it: `ts(z)`, `cms_ap(p, lambda=1e-4)`, `selective+ts(p)`. The
// pooling may be left out (z) and may stand anywhere among the options.
struct PipelineSpec {
  std::vector<std::string> stages;  // one, or several joined by +
  Pooling pooling;
  OptionMap options;
};

// Checks the form and the names of the stages; the stages check their options when they are made.
PipelineSpec ParsePipeline(const std::string& text);

// The canonical text: no spaces but after commas, options in alphabetical order.
std::string FormatPipeline(const PipelineSpec& spec);

// The canonical text without options: `dc(z)`. For tables and pictures, where options that a search
// chose would fill the page.
std::string ShortPipeline(const std::string& text);

}  // namespace segcal
