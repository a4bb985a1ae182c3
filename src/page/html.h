// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace segcal {

// Text as content of an element or as a quoted attribute.
std::string EscapeHtml(std::string_view text);

// A section of the page under a heading: `id` is what links name. `body` is HTML.
std::string PageSection(const std::string& id, const std::string& title, const std::string& body);

// A paragraph, a list or a fine remark of plain text.
std::string Paragraph(const std::string& text);
std::string BulletList(const std::vector<std::string>& items);
std::string Remark(const std::string& text);

// A drawing with its caption. The drawing's own title is what a screen reader says.
std::string FigureHtml(const std::string& svg, const std::string& caption);

// Something that opens on demand.
// Printed open, unless it is nothing for paper.
std::string Details(const std::string& summary, const std::string& body, bool on_paper = true);

// What a reader can choose: values and what is shown for each.
struct Choice {
  std::string value;
  std::string shown;
};
// A labelled list to choose from; `name` is what slots call it by.
std::string ChoiceHtml(const std::string& name,
                       const std::string& label,
                       const std::vector<Choice>& choices,
                       const std::string& chosen);

// JSON as content of a script element: nothing in it can end the element.
std::string EmbedJson(std::string json);

// Drawings of which the page shows some at a time. They are kept deflated, as one JSON object from
// key to SVG, and unpacked when first needed.
class FigureStore {
 public:
  explicit FigureStore(std::string id) : id_(std::move(id)) {}

  void Add(const std::string& key, std::string svg);
  bool empty() const noexcept { return figures_.empty(); }
  bool Has(const std::string& key) const { return figures_.contains(key); }
  // A place for the drawing whose key the template gives: "{family}|{metric}", names of choices.
  // What `key` names is there from the start.
  std::string Slot(const std::string& key, const std::string& key_template) const;
  // The element that holds them all.
  std::string ToHtml() const;

 private:
  std::string id_;
  std::map<std::string, std::string> figures_;
};

// Bytes as an element that scripts read, in base64; PackedScript deflates them first.
std::string PackedBytes(const std::string& id, std::string_view deflated);
std::string PackedScript(const std::string& id, std::string_view bytes);

}  // namespace segcal
