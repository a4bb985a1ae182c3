// SPDX-License-Identifier: Apache-2.0
#include "page/html.h"

#include <fmt/format.h>

#include "core/json.h"
#include "formats/deflate.h"
#include "report/raster.h"
#include "report/svg.h"

namespace segcal {

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  for (const char c : EscapeXml(text)) {
    if (c == '\'') {
      escaped += "&#39;";
    } else {
      escaped.push_back(c);
    }
  }
  return escaped;
}

std::string PageSection(const std::string& id, const std::string& title, const std::string& body) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 "
      "id=\"{0}-title\">{1}</h2>\n{2}</section>\n",
      id,
      EscapeHtml(title),
      body);
}

std::string Paragraph(const std::string& text) { return "<p>" + EscapeHtml(text) + "</p>\n"; }

std::string BulletList(const std::vector<std::string>& items) {
  std::string list;
  for (const std::string& item : items) list += "<li>" + EscapeHtml(item) + "</li>\n";
  return "<ul>\n" + list + "</ul>\n";
}

std::string Remark(const std::string& text) {
  return "<p class=\"remark\">" + EscapeHtml(text) + "</p>\n";
}

std::string FigureHtml(const std::string& svg, const std::string& caption) {
  const std::string below =
      caption.empty() ? "" : "<figcaption>" + EscapeHtml(caption) + "</figcaption>";
  return "<figure><div class=\"plot\" tabindex=\"0\">" + svg + "</div>" + below + "</figure>\n";
}

std::string Details(const std::string& summary, const std::string& body, bool on_paper) {
  return std::string("<details") + (on_paper ? "" : " data-print=\"closed\"") + "><summary>" +
         EscapeHtml(summary) + "</summary>\n" + body + "</details>\n";
}

std::string ChoiceHtml(const std::string& name,
                       const std::string& label,
                       const std::vector<Choice>& choices,
                       const std::string& chosen) {
  std::string options;
  for (const Choice& choice : choices) {
    options += fmt::format("<option value=\"{}\"{}>{}</option>",
                           EscapeHtml(choice.value),
                           choice.value == chosen ? " selected" : "",
                           EscapeHtml(choice.shown));
  }
  return fmt::format(
      "<label class=\"choice\"><span>{}</span><select data-choice=\"{}\">{}</select></label>\n",
      EscapeHtml(label),
      EscapeHtml(name),
      options);
}

std::string EmbedJson(std::string json) {
  std::string safe;
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe.push_back(c);
    }
  }
  return safe;
}

void FigureStore::Add(const std::string& key, std::string svg) {
  if (!svg.empty()) figures_[key] = std::move(svg);
}

std::string FigureStore::Slot(const std::string& key, const std::string& key_template) const {
  const auto found = figures_.find(key);
  return fmt::format(
      "<div class=\"plot\" tabindex=\"0\" aria-live=\"polite\" data-store=\"{}\" "
      "data-key=\"{}\">{}</div>\n",
      id_,
      EscapeHtml(key_template),
      found == figures_.end() ? "" : found->second);
}

std::string FigureStore::ToHtml() const {
  Json json = Json::object();
  for (const auto& [key, svg] : figures_) json[key] = svg;
  return PackedScript(id_, json.dump());
}

std::string PackedBytes(const std::string& id, std::string_view deflated) {
  return fmt::format(
      "<script type=\"application/octet-stream\" id=\"{}\">{}</script>\n", id, Base64(deflated));
}

std::string PackedScript(const std::string& id, std::string_view bytes) {
  return PackedBytes(id, DeflateRaw(bytes));
}

}  // namespace segcal
