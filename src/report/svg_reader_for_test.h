// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "report/raster.h"
#include "report/svg.h"

namespace segcal::testing {

// One element of a document, its text still escaped.
struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;

  double Number(const std::string& key) const { return std::stod(attributes.at(key)); }
  bool Has(const std::string& key, const std::string& value) const {
    const auto found = attributes.find(key);
    return found != attributes.end() && found->second == value;
  }
  SvgBox box() const { return {Number("x"), Number("y"), Number("width"), Number("height")}; }
};

// The elements in order of their start tags. Throws std::runtime_error where the text is not
// well-formed XML of the small kind we write (no comments, declarations or CDATA).
std::vector<Element> ReadSvg(std::string_view svg);

// Those with this name and fill, "" for any.
std::vector<Element> Select(const std::vector<Element>& elements,
                            const std::string& name,
                            const std::string& fill = "");

// The words of all text elements.
std::vector<std::string> Texts(const std::vector<Element>& elements);

// The decoded picture of an <image> element.
RgbImage DecodeImage(const Element& image);
RgbImage DecodePng(const std::string& bytes);

// Checks that everything lies on the card and that no two horizontal texts overlap.
void ExpectGoodLayout(const std::string& svg);

}  // namespace segcal::testing
